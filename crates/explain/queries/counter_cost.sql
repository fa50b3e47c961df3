-- What did the CPUs count of the nodes' threads? Null where they had no counters.
SELECT
  sum(cycles) AS cycles,
  sum(instructions) AS instructions,
  sum(cache_misses) AS cache_misses
FROM counters
WHERE $filter
