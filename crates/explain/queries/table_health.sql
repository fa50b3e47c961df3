-- How was each table, at the end and over the recording? Counters are differences, all else is the last reading.
SELECT
  node,
  keyspace,
  table_name,
  max(time_ns) - min(time_ns) AS length_ns,
  max(reads) - min(reads) AS reads,
  max(writes) - min(writes) AS writes,
  max(read_total_ns) - min(read_total_ns) AS read_total_ns,
  max(write_total_ns) - min(write_total_ns) AS write_total_ns,
  max(bytes_flushed) AS bytes_flushed,
  max(bytes_compacted) AS bytes_compacted,
  last_value(sstables ORDER BY time_ns) AS sstables,
  last_value(live_disk_bytes ORDER BY time_ns) AS live_disk_bytes,
  last_value(total_disk_bytes ORDER BY time_ns) AS total_disk_bytes,
  last_value(pending_compactions ORDER BY time_ns) AS pending_compactions,
  last_value(sstables_per_read_p95 ORDER BY time_ns) AS sstables_per_read_p95,
  last_value(tombstones_per_slice_p95 ORDER BY time_ns) AS tombstones_per_slice_p95,
  last_value(live_cells_per_slice_p95 ORDER BY time_ns) AS live_cells_per_slice_p95,
  last_value(droppable_ratio ORDER BY time_ns) AS droppable_ratio
FROM table_stats
GROUP BY node, keyspace, table_name
ORDER BY node, keyspace, table_name
