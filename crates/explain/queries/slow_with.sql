-- Which slow requests have this in common?
SELECT
  intended_start_ns,
  (end_ns - intended_start_ns) / 1e6 AS response_ms,
  node,
  client,
  client_port,
  operation,
  outcome,
  request_bytes,
  response_bytes
FROM all_requests
WHERE end_ns - intended_start_ns > $threshold_ns
  AND intended_start_ns >= $start_ns AND intended_start_ns < $end_ns
  AND $condition
ORDER BY response_ms DESC
LIMIT 100
