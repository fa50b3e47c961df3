-- What did every request look like? Everything about latency is computed from these rows.
SELECT
  intended_start_ns, start_ns, end_ns, node, operation, outcome,
  client, client_port, request_bytes, response_bytes,
  rows_returned, consistency, further_page, token, to_replica, weight, sending_ns
FROM all_requests
