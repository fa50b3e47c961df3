-- Requests of all clients, from their arrival at the node to the answer. The time that a client waited before is not in it.
SELECT
  'wire' AS provider,
  start_ns AS intended_start_ns,
  start_ns,
  start_ns + duration_ns AS end_ns,
  node,
  client,
  client_port,
  stream,
  statement AS operation,
  statement,
  statement_kind(statement) AS kind,
  statement_keyspace(statement) AS keyspace,
  statement_table(statement) AS table_name,
  coalesce(error, 'ok') AS outcome,
  request_bytes,
  response_bytes
FROM wire
WHERE opcode IN ('QUERY', 'EXECUTE', 'BATCH')
