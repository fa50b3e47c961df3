-- How many requests were in flight on a connection, on average over the second in which they were most (Little's law)?
SELECT
  node,
  client,
  max(in_flight) AS in_flight
FROM (
  SELECT
    node,
    client,
    client_port,
    start_ns / 1000000000 AS second,
    sum(duration_ns) / 1e9 AS in_flight
  FROM wire
  GROUP BY 1, 2, 3, 4
)
GROUP BY 1, 2
ORDER BY in_flight DESC, 1, 2
