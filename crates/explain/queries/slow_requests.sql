-- Which requests were slowest?
SELECT
  intended_start_ns,
  (end_ns - intended_start_ns) / 1e6 AS response_ms,
  (start_ns - intended_start_ns) / 1e6 AS queued_in_driver_ms,
  (end_ns - start_ns) / 1e6 AS service_ms,
  node,
  operation,
  outcome
FROM all_requests
WHERE end_ns - intended_start_ns > $threshold_ns
  AND intended_start_ns >= $start_ns AND intended_start_ns < $end_ns
ORDER BY response_ms DESC
LIMIT 100
