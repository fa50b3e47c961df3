-- When was a node held up by its CPU quota, by page faults or by its network?
SELECT
  time_ns,
  interval_ns,
  node,
  COALESCE(throttled_ns, 0) AS throttled_ns,
  COALESCE(major_faults, 0) AS major_faults,
  COALESCE(retransmitted_segments, 0) AS retransmitted_segments
FROM node_pressure
WHERE throttled_ns > 0 OR major_faults > 0 OR retransmitted_segments > 0
ORDER BY time_ns
