-- Which requests failed, how, where, and when?
SELECT
  outcome,
  node,
  operation,
  CAST(round(sum(weight)) AS BIGINT) AS requests,
  min(end_ns) AS first_ns,
  max(end_ns) AS last_ns,
  max(end_ns - intended_start_ns) / 1e6 AS slowest_ms
FROM all_requests
WHERE outcome <> 'ok'
GROUP BY outcome, node, operation
ORDER BY requests DESC, outcome, node, operation
