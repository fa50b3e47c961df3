-- How many requests were in a node at a time? Those beyond its threads wait for one.
SELECT node, time_ns, in_node
FROM (
  SELECT node, time_ns, sum(step) OVER (PARTITION BY node ORDER BY time_ns, step ROWS UNBOUNDED PRECEDING) AS in_node
  FROM (
    SELECT node, start_ns AS time_ns, 1 AS step FROM all_requests WHERE start_ns >= $start_ns AND start_ns < $end_ns
    UNION ALL
    SELECT node, end_ns AS time_ns, -1 AS step FROM all_requests WHERE start_ns >= $start_ns AND start_ns < $end_ns
  )
)
ORDER BY in_node DESC, time_ns
LIMIT 20
