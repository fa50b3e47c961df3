-- What did statements send to clients?
SELECT
  node,
  statement,
  count(*) AS requests,
  count(CASE WHEN answer = 'rows' THEN 1 END) AS answered_with_rows,
  sum(request_bytes) AS request_bytes,
  sum(response_bytes) AS response_bytes,
  approx_percentile_cont(duration_ns, 0.5) / 1e6 AS p50_ms,
  max(duration_ns) / 1e6 AS max_ms
FROM wire
WHERE opcode IN ('QUERY', 'EXECUTE', 'BATCH')
GROUP BY node, statement
ORDER BY response_bytes DESC
