-- Where did the time of requests go: before they were sent, in the node, or between driver and node?
SELECT
  end_ns - intended_start_ns > $threshold_ns AS is_slow,
  count(*) AS requests,
  count(in_node_ns) AS on_the_wire,
  approx_percentile_cont(at_ns - intended_start_ns, 0.5) / 1e6 AS before_p50_ms,
  approx_percentile_cont(in_node_ns, 0.5) / 1e6 AS in_node_p50_ms,
  approx_percentile_cont(end_ns - at_ns - in_node_ns, 0.5) / 1e6 AS between_p50_ms,
  max(in_node_ns) / 1e6 AS in_node_max_ms,
  sum(CASE WHEN in_node_ns IS NOT NULL THEN at_ns - intended_start_ns END) / 1e6 AS before_ms,
  sum(in_node_ns) / 1e6 AS in_node_ms,
  sum(end_ns - at_ns - in_node_ns) / 1e6 AS between_ms
FROM split
GROUP BY is_slow
ORDER BY is_slow DESC
