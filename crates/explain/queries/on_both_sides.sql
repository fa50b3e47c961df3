-- The requests of a stretch of time, each with how long it was in the node where the wire saw it.
WITH both_sides AS (
  SELECT node, client_port, stream, start_ns AS at_ns, 0 AS is_wire, intended_start_ns, end_ns, 0 AS node_ns
  FROM requests
  WHERE client_port IS NOT NULL AND intended_start_ns >= $start_ns AND intended_start_ns < $end_ns AND $judged
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
    intended_start_ns,
    at_ns,
    end_ns,
    -- A driver that gives up does so before the node has answered.
    CASE WHEN next_is_wire = 1 AND next_at_ns < end_ns THEN least(next_node_ns, end_ns - next_at_ns) END AS in_node_ns
  FROM followed
  WHERE is_wire = 0
)
