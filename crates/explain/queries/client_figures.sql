-- What did each client host ask, and what did it take?
SELECT
  coalesce(client, '') AS client,
  CAST(round(sum(weight)) AS BIGINT) AS requests,
  CAST(round(sum(CASE WHEN outcome <> 'ok' THEN weight ELSE 0 END)) AS BIGINT) AS errors,
  count(DISTINCT client_port) AS connections,
  count(DISTINCT node) AS nodes,
  count(DISTINCT operation) AS statements,
  sum(CASE WHEN to_replica THEN weight WHEN NOT to_replica THEN 0 END) / sum(CASE WHEN to_replica IS NOT NULL THEN weight END)
    AS to_replica_share,
  sum((end_ns - intended_start_ns) * weight) / 1e6 AS total_ms,
  approx_percentile_cont(end_ns - intended_start_ns, 0.5) / 1e6 AS p50_ms,
  approx_percentile_cont(end_ns - intended_start_ns, 0.99) / 1e6 AS p99_ms,
  max(end_ns - intended_start_ns) / 1e6 AS max_ms,
  CAST(sum(request_bytes * weight) AS BIGINT) AS request_bytes,
  CAST(sum(response_bytes * weight) AS BIGINT) AS response_bytes
FROM all_requests
WHERE $filter
GROUP BY 1
ORDER BY total_ms DESC, client
