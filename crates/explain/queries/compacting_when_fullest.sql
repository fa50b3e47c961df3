-- Which tables did each node compact when its heap was fullest after a collection?
WITH fullest AS (
  SELECT node, first_value(start_ns ORDER BY heap_after_bytes DESC) AS time_ns
  FROM pauses
  WHERE heap_after_bytes IS NOT NULL
  GROUP BY node
), readings AS (
  SELECT
    table_stats.node AS node,
    keyspace || '.' || table_name AS table_name,
    last_value(running_compactions ORDER BY table_stats.time_ns) AS running,
    last_value(compacting_bytes ORDER BY table_stats.time_ns) AS compacting_bytes
  FROM table_stats JOIN fullest ON table_stats.node = fullest.node AND table_stats.time_ns <= fullest.time_ns
  GROUP BY 1, 2
)
SELECT node, table_name, coalesce(compacting_bytes, 0) AS compacting_bytes
FROM readings
WHERE running > 0
ORDER BY node, compacting_bytes DESC, table_name
