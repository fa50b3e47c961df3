-- How much CPU time did each process of the machine use, second by second?
SELECT time_ns, interval_ns, pid, process, role, cpu_ns
FROM processes
ORDER BY time_ns, cpu_ns DESC
