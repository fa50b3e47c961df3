-- What did each statement take?
SELECT
  coalesce(operation, '') AS operation,
  max(statement) AS statement,
  max(kind) AS kind,
  max(keyspace) AS keyspace,
  max(table_name) AS table_name,
  count(*) AS requests,
  count(CASE WHEN outcome <> 'ok' THEN 1 END) AS errors,
  count(DISTINCT client) AS clients,
  sum(end_ns - intended_start_ns) / 1e6 AS total_ms,
  approx_percentile_cont(end_ns - intended_start_ns, 0.5) / 1e6 AS p50_ms,
  approx_percentile_cont(end_ns - intended_start_ns, 0.99) / 1e6 AS p99_ms,
  max(end_ns - intended_start_ns) / 1e6 AS max_ms,
  sum(request_bytes) AS request_bytes,
  sum(response_bytes) AS response_bytes,
  max(response_bytes) AS largest_response_bytes
FROM all_requests
WHERE $filter
GROUP BY 1
ORDER BY total_ms DESC, operation
