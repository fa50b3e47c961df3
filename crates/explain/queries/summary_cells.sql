-- How many system calls ended in each interval, and in which bin of duration?
SELECT
  (time_ns - interval_ns - $start_ns) / $bin_ns AS bin,
  low_ns,
  sum(count) AS events
FROM syscall_summary
WHERE time_ns - interval_ns >= $from_ns AND time_ns - interval_ns < $to_ns AND $filter
GROUP BY 1, 2
