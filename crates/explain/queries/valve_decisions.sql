-- When did each valve change its limit or its state, and why?
WITH followed AS (
  SELECT
    v.node,
    v.valve,
    v.time_ns,
    v.limit AS held_limit,
    v.next_limit,
    v.law,
    v.reason,
    v.state,
    lag(v.next_limit) OVER (PARTITION BY v.node, v.valve ORDER BY v.time_ns) AS limit_before,
    lag(v.state) OVER (PARTITION BY v.node, v.valve ORDER BY v.time_ns) AS state_before
  FROM valves v
)
SELECT
  node,
  valve,
  time_ns,
  -- A valve that was opened in a window had no limit at its end, so that the one before tells what it was.
  CASE WHEN state <> state_before THEN limit_before ELSE held_limit END AS until_limit,
  next_limit,
  law,
  reason
FROM followed
WHERE (held_limit IS DISTINCT FROM next_limit) OR state <> state_before
ORDER BY node, valve, time_ns
