-- How full was each thread pool at most, and how often was a task blocked since the recording began?
SELECT
  node,
  pool,
  max(active) AS active,
  max(pending) AS pending,
  max(max_size) AS max_size,
  max(total_blocked) - min(total_blocked) AS blocked
FROM pools
GROUP BY node, pool
ORDER BY node, pool
