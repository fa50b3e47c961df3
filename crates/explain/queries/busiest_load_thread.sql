-- Which thread of the load driver used most CPU time in a window?
SELECT tid, thread, sum(cpu_ns) AS cpu_ns
FROM threads
WHERE process = 'load' AND time_ns > $start_ns AND time_ns <= $end_ns
GROUP BY tid, thread
ORDER BY cpu_ns DESC, tid
LIMIT 1
