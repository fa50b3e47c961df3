-- How long did each node's threads take for calls that read the clock, and over what time were calls counted?
SELECT
  node,
  sum(CASE WHEN call IN ('clock_gettime', 'gettimeofday') THEN total_ns ELSE 0 END) AS clock_ns,
  max(time_ns) - min(time_ns - interval_ns) AS seen_ns
FROM syscall_summary
GROUP BY node
ORDER BY node
