-- Which errors did each statement meet?
SELECT coalesce(operation, '') AS operation, outcome, CAST(round(sum(weight)) AS BIGINT) AS requests
FROM all_requests
WHERE outcome <> 'ok' AND $filter
GROUP BY 1, 2
ORDER BY 1, requests DESC, outcome
