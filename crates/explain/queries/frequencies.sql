-- At how many cycles a second did the threads of each node run?
SELECT node, sum(cycles) AS cycles, sum(cpu_ns) AS cpu_ns
FROM counters
WHERE cycles > 0
GROUP BY node
ORDER BY node
