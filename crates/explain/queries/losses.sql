-- What did which source lose, and why?
SELECT source, node, provider, lost_reason, sum(lost) AS lost, min(time_ns) AS first_ns, max(time_ns) AS last_ns
FROM sources
WHERE lost > 0
GROUP BY source, node, provider, lost_reason
ORDER BY lost DESC, source, node
