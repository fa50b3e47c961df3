-- How full was each thread pool that ever had something to do, bin by bin? The fullest sample of a bin counts.
WITH used AS (
  SELECT node, pool
  FROM pools
  GROUP BY node, pool
  HAVING max(active) > 0 OR max(pending) > 0 OR max(blocked) > 0 OR max(completed) > min(completed)
)
SELECT
  p.node,
  p.pool,
  (p.time_ns - $start_ns) / $bin_ns AS bin,
  max(p.active) AS active,
  max(p.pending) AS pending,
  max(p.blocked) AS blocked
FROM pools p
JOIN used u ON u.node = p.node AND u.pool = p.pool
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
