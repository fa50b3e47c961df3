-- From when to when were the tables of each node looked at? Tables at rest have no rows, but the source reports each time.
SELECT
  node,
  min(time_ns) AS first_ns,
  max(time_ns) AS last_ns
FROM (
  SELECT node, time_ns FROM table_stats
  UNION ALL
  SELECT node, time_ns FROM sources WHERE source = 'tables'
) AS looks
GROUP BY node
