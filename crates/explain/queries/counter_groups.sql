-- Which thread groups of the nodes did the CPUs count what of?
SELECT
  thread_group,
  sum(cpu_ns) AS cpu_ns,
  sum(cycles) AS cycles,
  sum(instructions) AS instructions,
  sum(cache_misses) AS cache_misses
FROM counters
WHERE $filter
GROUP BY thread_group
ORDER BY cycles DESC NULLS LAST, cpu_ns DESC, thread_group
