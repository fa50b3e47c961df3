-- What is each table defined to be, by the last that was recorded of each fact? Empty values are of facts that are gone.
SELECT
  node,
  keyspace,
  table_name,
  fact,
  last_value(value ORDER BY time_ns) AS value
FROM table_facts
GROUP BY node, keyspace, table_name, fact
ORDER BY node, keyspace, table_name, fact
