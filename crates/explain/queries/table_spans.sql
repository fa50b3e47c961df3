-- From when to when were the tables of each node looked at, and how often? Tables at rest have no rows, but the source reports
-- of each look what it cost.
SELECT
  node,
  min(time_ns) AS first_ns,
  max(time_ns) AS last_ns,
  sum(is_look) AS looks
FROM (
  SELECT node, time_ns, 0 AS is_look FROM table_stats
  UNION ALL
  SELECT node, time_ns, 1 AS is_look FROM sources WHERE source = 'tables' AND cpu_ns > 0
) AS looks
GROUP BY node
