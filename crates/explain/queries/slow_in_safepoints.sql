-- Which safepoints did slow requests wait for, and how many each?
SELECT
  p.start_ns,
  p.duration_ns / 1e6 AS stopped_ms,
  p.time_to_safepoint_ns / 1e6 AS time_to_safepoint_ms,
  p.node,
  p.collector AS operation,
  count(*) AS slow_requests,
  max(r.end_ns - r.intended_start_ns) / 1e6 AS slowest_ms
FROM pauses p
JOIN all_requests r ON r.intended_start_ns < p.start_ns + p.duration_ns AND r.end_ns > p.start_ns
WHERE p.kind = 'safepoint'
  AND r.end_ns - r.intended_start_ns > $threshold_ns
  AND r.intended_start_ns >= $start_ns AND r.intended_start_ns < $end_ns
GROUP BY p.start_ns, p.duration_ns, p.time_to_safepoint_ns, p.node, p.collector
ORDER BY slow_requests DESC, p.start_ns
LIMIT 100
