-- local_time
-- How long did the local reads and writes of the users' tables take, by the nodes' own metrics?
SELECT sum(total_ns) / 1e6 / NULLIF(sum(operations), 0) AS local_time
FROM (
  SELECT
    max(coalesce(reads, 0) + coalesce(writes, 0)) - min(coalesce(reads, 0) + coalesce(writes, 0)) AS operations,
    max(coalesce(read_total_ns, 0) + coalesce(write_total_ns, 0))
      - min(coalesce(read_total_ns, 0) + coalesce(write_total_ns, 0)) AS total_ns
  FROM table_stats
  WHERE keyspace NOT LIKE 'system%' AND $filter
  GROUP BY node, keyspace, table_name
)
