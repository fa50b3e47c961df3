-- What held up the nodes from outside meanwhile, the longest throttled first?
SELECT *
FROM node_pressure
WHERE time_ns > $start_ns AND time_ns - interval_ns < $end_ns
  AND (throttled_ns > 0 OR major_faults > 0 OR retransmitted_segments > 0)
ORDER BY throttled_ns DESC NULLS LAST, major_faults DESC, retransmitted_segments DESC
LIMIT 100
