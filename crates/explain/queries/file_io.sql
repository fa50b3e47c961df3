-- What was read and written of which file, by requests or behind their back?
WITH calls AS (
  SELECT node, thread_group, call, file, file_kind, count, total_ns, bytes FROM syscall_summary
  UNION ALL
  SELECT node, thread_group, call, file, file_kind, 1, duration_ns, coalesce(bytes, 0) FROM syscalls
)
SELECT
  node,
  file,
  call IN ('read', 'pread64', 'readv', 'preadv', 'preadv2') AS is_read,
  thread_group IN ('ReadStage', 'Native-Transport-Requests', 'MutationStage', 'CounterMutationStage', 'SharedPool-Worker', 'RequestResponseStage')
    AS is_request,
  sum(count) AS calls,
  sum(bytes) AS bytes,
  sum(total_ns) / 1e6 AS total_ms
FROM calls
WHERE file_kind = 'file' AND bytes > 0 AND call IN
  ('read', 'pread64', 'readv', 'preadv', 'preadv2', 'write', 'pwrite64', 'writev', 'pwritev', 'pwritev2')
GROUP BY 1, 2, 3, 4
ORDER BY bytes DESC
