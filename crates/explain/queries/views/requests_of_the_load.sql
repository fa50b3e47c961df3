-- Requests as the load driver saw them.
SELECT
  'load' AS provider,
  intended_start_ns,
  start_ns,
  end_ns,
  node,
  CAST(NULL AS VARCHAR) AS client,
  client_port,
  stream,
  operation,
  $statement AS statement,
  statement_kind($statement) AS kind,
  statement_keyspace($statement) AS keyspace,
  statement_table($statement) AS table_name,
  outcome,
  request_bytes,
  response_bytes
FROM requests
