-- Which partition are most of these slow requests about?
SELECT token, count(*) AS requests
FROM all_requests
WHERE $condition AND end_ns - intended_start_ns > $threshold_ns
GROUP BY token
ORDER BY requests DESC, token
LIMIT 1
