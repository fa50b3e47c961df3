-- Which consistency levels did each statement have?
SELECT
  coalesce(operation, '') AS operation,
  coalesce(consistency, '') || coalesce(' ' || serial_consistency, '') AS level,
  CAST(round(sum(weight)) AS BIGINT) AS requests
FROM all_requests
WHERE consistency IS NOT NULL AND $filter
GROUP BY 1, 2
ORDER BY 1, requests DESC, level
