-- Which stalls of one side did slow requests meet, and how many each?
SELECT
  s.start_ns,
  s.duration_ns / 1e6 AS stall_ms,
  s.side,
  s.node,
  s.kind,
  count(*) AS slow_requests,
  max(r.end_ns - r.intended_start_ns) / 1e6 AS slowest_ms
FROM stalls s
JOIN all_requests r ON r.intended_start_ns < s.start_ns + s.duration_ns AND r.end_ns > s.start_ns
WHERE s.side = $side
  AND r.end_ns - r.intended_start_ns > $threshold_ns
  AND r.intended_start_ns >= $start_ns AND r.intended_start_ns < $end_ns
GROUP BY s.start_ns, s.duration_ns, s.side, s.node, s.kind
ORDER BY s.duration_ns DESC, s.start_ns
LIMIT 100
