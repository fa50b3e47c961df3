-- Which calls on which files by which threads took so long in this time?
SELECT
  call,
  file,
  thread_group,
  count(*) AS events,
  sum(duration_ns) AS total_ns,
  max(duration_ns) AS longest_ns,
  sum(bytes) AS bytes,
  count(error) AS errors
FROM syscalls
WHERE start_ns >= $from_ns AND start_ns < $to_ns AND duration_ns >= $low_ns AND duration_ns < $high_ns AND $filter
GROUP BY 1, 2, 3
