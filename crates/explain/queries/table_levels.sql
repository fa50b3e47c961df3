-- table_levels
-- How were the users' tables that were read or written, at the end of the windows? A table's reads weigh what its reads met,
-- its disk space what its SSTables hold.
WITH used AS (
  SELECT
    max(reads) - min(reads) AS reads,
    last_value(live_disk_bytes ORDER BY time_ns) AS disk_bytes,
    last_value(sstables_per_read_p95 ORDER BY time_ns) AS sstables_per_read,
    last_value(tombstones_per_slice_p95 ORDER BY time_ns) AS tombstones_per_slice,
    last_value(droppable_ratio ORDER BY time_ns) AS droppable_ratio
  FROM table_stats
  WHERE keyspace NOT LIKE 'system%' AND $filter
  GROUP BY node, keyspace, table_name
  HAVING max(reads) > min(reads) OR max(writes) > min(writes)
)
SELECT
  CAST(sum(disk_bytes) AS DOUBLE) AS disk_bytes,
  sum(sstables_per_read * reads) / NULLIF(sum(CASE WHEN sstables_per_read IS NOT NULL THEN reads END), 0) AS sstables_per_read,
  sum(tombstones_per_slice * reads)
    / NULLIF(sum(CASE WHEN tombstones_per_slice IS NOT NULL THEN reads END), 0) AS tombstones_per_slice,
  sum(droppable_ratio * disk_bytes)
    / NULLIF(sum(CASE WHEN droppable_ratio IS NOT NULL THEN disk_bytes END), 0) AS droppable_ratio
FROM used
