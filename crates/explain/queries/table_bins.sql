-- What did each table that was read or written count, bin by bin? Counters only grow: the last sample is the largest.
WITH used AS (
  SELECT node, keyspace, table_name
  FROM table_stats
  GROUP BY node, keyspace, table_name
  HAVING max(reads) > min(reads) OR max(writes) > min(writes)
)
SELECT
  t.node,
  t.keyspace,
  t.table_name,
  (t.time_ns - $start_ns) / $bin_ns AS bin,
  max(t.time_ns) AS time_ns,
  max(t.reads) AS reads,
  max(t.writes) AS writes,
  max(t.read_total_ns) AS read_total_ns,
  max(t.write_total_ns) AS write_total_ns,
  max(t.sstables) AS sstables,
  max(t.live_disk_bytes) AS live_disk_bytes
FROM table_stats t
JOIN used u ON u.node = t.node AND u.keyspace = t.keyspace AND u.table_name = t.table_name
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4
