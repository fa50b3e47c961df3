-- What is each SSTable that was there at the end, by the last that was recorded of it? The largest first.
SELECT
  node,
  keyspace,
  table_name,
  file,
  last_value(source ORDER BY time_ns) AS source,
  last_value(written_ns ORDER BY time_ns) AS written_ns,
  last_value(level ORDER BY time_ns) AS level,
  last_value(disk_bytes ORDER BY time_ns) AS disk_bytes,
  last_value(data_bytes ORDER BY time_ns) AS data_bytes,
  last_value(compression_ratio ORDER BY time_ns) AS compression_ratio,
  last_value(partitions ORDER BY time_ns) AS partitions,
  last_value(row_count ORDER BY time_ns) AS row_count,
  last_value(cells ORDER BY time_ns) AS cells,
  last_value(mean_partition_bytes ORDER BY time_ns) AS mean_partition_bytes,
  last_value(max_partition_bytes ORDER BY time_ns) AS max_partition_bytes,
  last_value(droppable_ratio ORDER BY time_ns) AS droppable_ratio,
  last_value(min_timestamp_us ORDER BY time_ns) AS min_timestamp_us,
  last_value(max_timestamp_us ORDER BY time_ns) AS max_timestamp_us,
  last_value(min_ttl_s ORDER BY time_ns) AS min_ttl_s,
  last_value(max_ttl_s ORDER BY time_ns) AS max_ttl_s,
  last_value(repaired_at_ms ORDER BY time_ns) AS repaired_at_ms,
  last_value(first_token ORDER BY time_ns) AS first_token,
  last_value(last_token ORDER BY time_ns) AS last_token
FROM sstables
GROUP BY node, keyspace, table_name, file
HAVING last_value(live ORDER BY time_ns)
ORDER BY node, keyspace, table_name, disk_bytes DESC
