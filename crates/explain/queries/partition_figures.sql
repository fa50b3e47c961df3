-- What did the busiest partitions take?
WITH busiest AS (
  SELECT keyspace AS of_keyspace, table_name AS of_table, token AS of_token, sum($measure) AS measure
  FROM all_requests
  WHERE token IS NOT NULL AND $filter
  GROUP BY 1, 2, 3
  ORDER BY measure DESC, of_token
  LIMIT $limit
)
SELECT
  coalesce(keyspace, '') AS keyspace,
  coalesce(table_name, '') AS table_name,
  token,
  max(measure) AS measure,
  CAST(round(sum(weight)) AS BIGINT) AS requests,
  CAST(round(sum(CASE WHEN outcome <> 'ok' THEN weight ELSE 0 END)) AS BIGINT) AS errors,
  sum((end_ns - intended_start_ns) * weight) / 1e6 AS total_ms,
  approx_percentile_cont(end_ns - intended_start_ns, 0.5) / 1e6 AS p50_ms,
  approx_percentile_cont(end_ns - intended_start_ns, 0.99) / 1e6 AS p99_ms,
  max(end_ns - intended_start_ns) / 1e6 AS max_ms,
  CAST(sum(request_bytes * weight) AS BIGINT) AS request_bytes,
  CAST(sum(response_bytes * weight) AS BIGINT) AS response_bytes,
  CAST(round(sum(CASE WHEN kind IN ('read', 'range read') THEN weight ELSE 0 END)) AS BIGINT) AS reads,
  count(DISTINCT client) AS clients
FROM all_requests
JOIN busiest ON token = of_token
  AND (keyspace IS NOT DISTINCT FROM of_keyspace)
  AND (table_name IS NOT DISTINCT FROM of_table)
WHERE $filter
GROUP BY 1, 2, 3
ORDER BY measure DESC, token
