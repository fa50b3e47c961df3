-- What did each source capture, lose and cost in all?
SELECT
  source,
  node,
  provider,
  sum(captured) AS captured,
  sum(lost) AS lost,
  max(lost_reason) AS lost_reason,
  CAST(sum(cpu_ns) AS DOUBLE) / sum(interval_ns) AS cpu_share
FROM sources
GROUP BY source, node, provider
ORDER BY source, node, provider
