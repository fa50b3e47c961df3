-- What was asked and what was achieved, phase by phase?
SELECT
  m.name,
  m.rate_per_s AS intended_per_s,
  CAST(round(sum(weight)) AS BIGINT) AS requests,
  CAST(round(sum(CASE WHEN r.outcome <> 'ok' THEN weight ELSE 0 END)) AS BIGINT) AS errors,
  sum(CASE WHEN r.outcome = 'ok' AND r.end_ns < m.end_ns THEN weight ELSE 0 END) * 1e9 / (m.end_ns - m.start_ns)
    AS achieved_per_s,
  percentile_cont(r.end_ns - r.intended_start_ns, 0.5) / 1e6 AS response_p50_ms,
  percentile_cont(r.end_ns - r.intended_start_ns, 0.99) / 1e6 AS response_p99_ms,
  max(r.end_ns - r.intended_start_ns) / 1e6 AS response_max_ms,
  percentile_cont(r.end_ns - r.start_ns, 0.99) / 1e6 AS service_p99_ms
FROM marks m
JOIN all_requests r ON r.intended_start_ns >= m.start_ns AND r.intended_start_ns < m.end_ns
WHERE m.kind = 'phase'
GROUP BY m.name, m.rate_per_s, m.start_ns, m.end_ns
ORDER BY m.start_ns
