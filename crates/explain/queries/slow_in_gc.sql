-- Which GC pauses did slow requests wait for, and how many each?
SELECT
  p.start_ns,
  p.duration_ns / 1e6 AS pause_ms,
  p.node,
  p.collector,
  p.cause,
  p.heap_before_bytes / 1048576 AS heap_before_mib,
  p.heap_after_bytes / 1048576 AS heap_after_mib,
  count(*) AS slow_requests,
  max(r.end_ns - r.intended_start_ns) / 1e6 AS slowest_ms
FROM pauses p
JOIN all_requests r ON r.intended_start_ns < p.start_ns + p.duration_ns AND r.end_ns > p.start_ns
WHERE p.kind = 'gc' AND coalesce(p.phase, '') = ''
  AND r.end_ns - r.intended_start_ns > $threshold_ns
  AND r.intended_start_ns >= $start_ns AND r.intended_start_ns < $end_ns
GROUP BY p.start_ns, p.duration_ns, p.node, p.collector, p.cause, p.heap_before_bytes, p.heap_after_bytes
ORDER BY slow_requests DESC, p.start_ns
LIMIT 100
