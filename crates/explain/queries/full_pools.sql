-- How full was each thread pool at most, and how many tasks were blocked and completed since the recording began?
SELECT
  node,
  pool,
  max(active) AS active,
  max(pending) AS pending,
  max(max_size) AS max_size,
  max(total_blocked) - min(total_blocked) AS blocked,
  max(completed) - min(completed) AS completed
FROM pools
GROUP BY node, pool
ORDER BY node, pool
