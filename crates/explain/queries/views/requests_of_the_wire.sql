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
  coalesce(statement_keyspace(statement), keyspace) AS keyspace,
  statement_table(statement) AS table_name,
  coalesce(error, 'ok') AS outcome,
  coalesce(weight, 1.0) AS weight,
  consistency,
  serial_consistency,
  further_page,
  more_pages,
  warned,
  traced,
  compressed,
  rows_returned,
  request_bytes,
  response_bytes
FROM wire
WHERE opcode IN ('QUERY', 'EXECUTE', 'BATCH')
