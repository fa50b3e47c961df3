-- In which pools did tasks wait while slow requests were under way?
SELECT
  p.node,
  p.pool,
  count(DISTINCT p.time_ns) AS samples_with_queue,
  max(p.pending) AS most_pending,
  max(p.active) AS most_active,
  max(p.max_size) AS max_size,
  count(*) AS slow_requests
FROM pools p
JOIN all_requests r ON r.intended_start_ns < p.time_ns + 500000000 AND r.end_ns > p.time_ns - 500000000
WHERE p.kind <> 'internal' AND p.pending > 0
  AND r.end_ns - r.intended_start_ns > $threshold_ns
  AND r.intended_start_ns >= $start_ns AND r.intended_start_ns < $end_ns
GROUP BY p.node, p.pool
ORDER BY slow_requests DESC, p.node, p.pool
