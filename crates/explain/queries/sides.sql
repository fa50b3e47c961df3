-- How long did requests take as the user, the driver, the node's wire and its coordinator saw it, in the same time?
WITH counted AS (
  SELECT time_ns - interval_ns AS from_ns, time_ns AS to_ns, count, total_ns
  FROM client_requests
  WHERE time_ns - interval_ns >= $start_ns AND time_ns <= $end_ns
),
-- The coordinator tells once a second: the others are asked for exactly that time.
span AS (SELECT min(from_ns) AS from_ns, max(to_ns) AS to_ns FROM counted),
by_client AS (
  SELECT end_ns - intended_start_ns AS response_ns, end_ns - start_ns AS service_ns
  FROM requests CROSS JOIN span
  WHERE end_ns > from_ns AND end_ns <= to_ns
),
on_wire AS (
  SELECT duration_ns
  FROM wire CROSS JOIN span
  WHERE start_ns + duration_ns > from_ns AND start_ns + duration_ns <= to_ns AND opcode IN ('QUERY', 'EXECUTE', 'BATCH')
)
SELECT 'response' AS side, count(*) AS requests, sum(response_ns) / 1e6 AS total_ms FROM by_client
UNION ALL
SELECT 'service' AS side, count(*) AS requests, sum(service_ns) / 1e6 AS total_ms FROM by_client
UNION ALL
SELECT 'wire' AS side, count(*) AS requests, sum(duration_ns) / 1e6 AS total_ms FROM on_wire
UNION ALL
SELECT 'coordinator' AS side, sum(count) AS requests, sum(total_ns) / 1e6 AS total_ms FROM counted
