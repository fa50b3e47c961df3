-- When had the kernel stopped threads of a node, by a signal or a debugger?
SELECT node, start_ns, duration_ns - run_queue_ns AS stopped_ns
FROM off_cpu
WHERE reason = 'stopped' AND duration_ns > run_queue_ns
ORDER BY node, start_ns
