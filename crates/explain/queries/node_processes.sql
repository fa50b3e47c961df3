-- How much CPU time did the processes of nodes use, second by second?
SELECT time_ns, interval_ns, cpu_ns
FROM processes
WHERE role = 'server'
ORDER BY time_ns
