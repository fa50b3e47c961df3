-- What did each valve measure and decide, window by window?
SELECT time_ns, interval_ns, node, valve, law, v.limit, in_flight, waiting, completed, refused, let_through,
  throughput_per_s, wait_mean_ns, p99_ns, state, reason
FROM valves v
ORDER BY node, valve, time_ns
