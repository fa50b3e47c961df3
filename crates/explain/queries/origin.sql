-- Where did the time of requests go: before they were sent, in the node, or between driver and node?
WITH both_sides AS (
  SELECT node, client_port, stream, start_ns AS at_ns, 0 AS is_wire, intended_start_ns, end_ns, 0 AS node_ns
  FROM requests
  WHERE client_port IS NOT NULL AND intended_start_ns >= $start_ns AND intended_start_ns < $end_ns
  UNION ALL
  SELECT node, client_port, stream, start_ns, 1, 0, 0, duration_ns
  FROM wire
),
-- A stream carries one request at a time: the next thing on the wire is the same request.
followed AS (
  SELECT *,
    lead(is_wire) OVER here AS next_is_wire,
    lead(at_ns) OVER here AS next_at_ns,
    lead(node_ns) OVER here AS next_node_ns
  FROM both_sides
  WINDOW here AS (PARTITION BY node, client_port, stream ORDER BY at_ns, is_wire)
),
split AS (
  SELECT
    end_ns - intended_start_ns > $threshold_ns AS is_slow,
    at_ns - intended_start_ns AS before_ns,
    end_ns - at_ns AS service_ns,
    CASE WHEN next_is_wire = 1 AND next_at_ns < end_ns THEN next_node_ns END AS in_node_ns
  FROM followed
  WHERE is_wire = 0
)
SELECT
  is_slow,
  count(*) AS requests,
  count(in_node_ns) AS on_the_wire,
  approx_percentile_cont(before_ns, 0.5) / 1e6 AS before_p50_ms,
  approx_percentile_cont(in_node_ns, 0.5) / 1e6 AS in_node_p50_ms,
  approx_percentile_cont(service_ns - in_node_ns, 0.5) / 1e6 AS between_p50_ms,
  max(in_node_ns) / 1e6 AS in_node_max_ms,
  sum(CASE WHEN in_node_ns IS NOT NULL THEN before_ns END) / 1e6 AS before_ms,
  sum(in_node_ns) / 1e6 AS in_node_ms,
  sum(service_ns - in_node_ns) / 1e6 AS between_ms
FROM split
GROUP BY is_slow
ORDER BY is_slow DESC
