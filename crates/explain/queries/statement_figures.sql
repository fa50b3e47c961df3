-- What did each statement take?
SELECT
  coalesce(operation, '') AS operation,
  max(statement) AS statement,
  max(kind) AS kind,
  max(keyspace) AS keyspace,
  max(table_name) AS table_name,
  CAST(round(sum(weight)) AS BIGINT) AS requests,
  CAST(round(sum(CASE WHEN outcome <> 'ok' THEN weight ELSE 0 END)) AS BIGINT) AS errors,
  count(DISTINCT client) AS clients,
  sum((end_ns - intended_start_ns) * weight) / 1e6 AS total_ms,
  approx_percentile_cont(end_ns - intended_start_ns, 0.5) / 1e6 AS p50_ms,
  approx_percentile_cont(end_ns - intended_start_ns, 0.99) / 1e6 AS p99_ms,
  max(end_ns - intended_start_ns) / 1e6 AS max_ms,
  CAST(sum(rows_returned * weight) AS BIGINT) AS rows_returned,
  max(rows_returned) AS most_rows,
  CAST(sum(CASE WHEN further_page THEN weight END) AS BIGINT) AS further_pages,
  CAST(sum(request_bytes * weight) AS BIGINT) AS request_bytes,
  CAST(sum(response_bytes * weight) AS BIGINT) AS response_bytes,
  max(response_bytes) AS largest_response_bytes
FROM all_requests
WHERE $filter
GROUP BY 1
ORDER BY total_ms DESC, operation
