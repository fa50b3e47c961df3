-- Which processes used the most CPU time meanwhile?
SELECT process, role, pid, sum(cpu_ns) / 1e9 AS cpu_s
FROM processes
WHERE time_ns > $start_ns AND time_ns - interval_ns < $end_ns
GROUP BY process, role, pid
ORDER BY cpu_s DESC
LIMIT 20
