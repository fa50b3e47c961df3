-- How far do threads that serve requests read a file in order, from one jump to the next?
SELECT
  node,
  file,
  sum(CASE WHEN offset_bytes = ends_bytes THEN 0 ELSE 1 END) AS runs,
  sum(bytes) AS bytes
FROM (
  SELECT
    node,
    file,
    offset_bytes,
    bytes,
    lag(offset_bytes + bytes) OVER (PARTITION BY node, file, tid ORDER BY start_ns) AS ends_bytes
  FROM syscalls
  WHERE file_kind = 'file' AND bytes > 0 AND call IN ('pread64', 'preadv', 'preadv2') AND offset_bytes IS NOT NULL
    AND thread_group IN ('ReadStage', 'Native-Transport-Requests', 'MutationStage', 'CounterMutationStage', 'SharedPool-Worker', 'RequestResponseStage')
)
GROUP BY 1, 2
ORDER BY 1, 2
