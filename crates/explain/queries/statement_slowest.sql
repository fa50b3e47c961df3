-- Which requests, of one statement or of all, were slowest?
SELECT
  intended_start_ns AS start_ns,
  (end_ns - intended_start_ns) / 1e6 AS response_ms,
  coalesce(client, '') AS client,
  coalesce(client_port, 0) AS client_port,
  node,
  coalesce(operation, '') AS operation,
  rows_returned,
  response_bytes,
  coalesce(consistency, '') AS consistency,
  outcome
FROM all_requests
WHERE $filter
ORDER BY response_ms DESC, start_ns
LIMIT $limit
