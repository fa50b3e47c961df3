-- Which phases did the load have?
SELECT start_ns, end_ns, name, rate_per_s, end_rate_per_s, in_flight, measured
FROM marks
WHERE kind = 'phase'
ORDER BY start_ns, end_ns
