-- What were the threads doing?
SELECT
  time_ns,
  CASE WHEN $by_thread THEN thread ELSE thread_group END AS name,
  CASE WHEN $by_thread THEN node ELSE '' END AS node,
  CASE WHEN $by_thread THEN tid ELSE 0 END AS tid,
  stack,
  weight
FROM samples
WHERE event = $event AND ($group = '' OR thread_group = $group) AND time_ns >= $start_ns AND time_ns < $end_ns
