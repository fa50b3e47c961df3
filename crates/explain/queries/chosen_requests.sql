-- Which statements, nodes and clients were chosen?
SELECT DISTINCT coalesce(node, '') AS node, coalesce(operation, '') AS operation, coalesce(client, '') AS client
FROM (SELECT DISTINCT node, operation, client, statement, keyspace, table_name FROM all_requests)
WHERE $filter
