-- Which statements, nodes and clients were chosen?
SELECT DISTINCT coalesce(node, '') AS node, coalesce(operation, '') AS operation, coalesce(client, '') AS client
FROM all_requests
WHERE $filter
