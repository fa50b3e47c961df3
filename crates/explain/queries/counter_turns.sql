-- For which share of the time were the CPUs' counters there for the nodes? Where it is below 1, counts are scaled.
SELECT node, sum(running_ns) * 1.0 / sum(enabled_ns) AS share
FROM counters
GROUP BY node
HAVING sum(enabled_ns) > 0
ORDER BY node
