-- Which pauses were long?
SELECT node, start_ns, duration_ns
FROM pauses
WHERE duration_ns >= $least_ns AND COALESCE(phase, '') = ''
ORDER BY duration_ns DESC, start_ns
LIMIT 20
