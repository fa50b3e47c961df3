-- What do the chosen requests have in common, and how many of the others have it?
WITH each_request AS (
  SELECT
    weight,
    CASE WHEN $filter THEN weight ELSE 0 END AS chosen,
    operation,
    concat(keyspace, '.', table_name) AS table_name,
    kind,
    client,
    concat(client, ':', CAST(client_port AS VARCHAR)) AS connection,
    node,
    consistency,
    outcome
  FROM all_requests
),
counted AS (
  SELECT 'statement' AS what, operation AS value, sum(chosen) AS chosen, sum(weight) AS requests FROM each_request GROUP BY 2
  UNION ALL
  SELECT 'table', table_name, sum(chosen), sum(weight) FROM each_request GROUP BY 2
  UNION ALL
  SELECT 'kind', kind, sum(chosen), sum(weight) FROM each_request GROUP BY 2
  UNION ALL
  SELECT 'client', client, sum(chosen), sum(weight) FROM each_request GROUP BY 2
  UNION ALL
  SELECT 'connection', connection, sum(chosen), sum(weight) FROM each_request GROUP BY 2
  UNION ALL
  SELECT 'node', node, sum(chosen), sum(weight) FROM each_request GROUP BY 2
  UNION ALL
  SELECT 'level', consistency, sum(chosen), sum(weight) FROM each_request GROUP BY 2
  UNION ALL
  SELECT 'outcome', outcome, sum(chosen), sum(weight) FROM each_request GROUP BY 2
)
SELECT what, coalesce(value, '') AS value, CAST(chosen AS DOUBLE) AS chosen, CAST(requests AS DOUBLE) AS requests
FROM counted
WHERE chosen > 0
ORDER BY what, value
