-- What does each node count of itself, at the end, and by how much did it grow over the recording?
SELECT
  node,
  kind,
  scope,
  metric,
  attribute,
  last_value(value ORDER BY time_ns) AS value,
  max(value) - min(value) AS grown
FROM node_metrics
GROUP BY node, kind, scope, metric, attribute
ORDER BY node, kind, scope, metric, attribute
