-- Which calls on which files by which threads are in the bins of duration that reach into these bounds?
SELECT
  call,
  file,
  thread_group,
  sum(count) AS events,
  sum(total_ns) AS total_ns,
  max(high_ns) AS longest_ns,
  sum(bytes) AS bytes,
  sum(errors) AS errors
FROM syscall_summary
WHERE time_ns - interval_ns >= $from_ns AND time_ns - interval_ns < $to_ns
  AND low_ns < $high_ns AND high_ns > $low_ns AND $filter
GROUP BY 1, 2, 3
