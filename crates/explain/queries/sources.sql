-- What did each source capture and lose?
SELECT source, node, provider, sum(captured) AS captured, sum(lost) AS lost, max(lost_reason) FILTER (WHERE lost > 0) AS lost_reason
FROM sources
GROUP BY source, node, provider
ORDER BY source, node, provider
