-- How large are the rows of each table in the mean, before compression, and what is the shortest TTL of its cells (0 where one
-- has none), by the SSTables that were there at the end?
WITH there AS (
  SELECT
    node,
    keyspace,
    table_name,
    last_value(data_bytes ORDER BY time_ns) AS data_bytes,
    last_value(row_count ORDER BY time_ns) AS row_count,
    last_value(min_ttl_s ORDER BY time_ns) AS min_ttl_s
  FROM sstables
  GROUP BY node, keyspace, table_name, file
  HAVING last_value(live ORDER BY time_ns)
)
SELECT
  node,
  keyspace,
  table_name,
  sum(data_bytes) / NULLIF(sum(row_count), 0) AS mean_row_bytes,
  min(min_ttl_s) AS min_ttl_s
FROM there
GROUP BY node, keyspace, table_name
