-- When were the tables of each node read first and last, and how often? Tables at rest have no rows, but the source reports the
-- cost of each read.
SELECT
  node,
  min(time_ns) AS first_ns,
  max(time_ns) AS last_ns,
  sum(is_read) AS readings
FROM (
  SELECT node, time_ns, 0 AS is_read FROM table_stats
  UNION ALL
  SELECT node, time_ns, 1 AS is_read FROM sources WHERE source = 'tables' AND cpu_ns > 0
) AS reads
GROUP BY node
