-- How are the requests of each table spread over its partitions?
WITH partitions AS (
  SELECT
    keyspace,
    table_name,
    token,
    sum(weight) AS requests,
    sum(CASE WHEN token IS NOT NULL THEN $measure END) AS measure
  FROM all_requests
  WHERE $filter
  GROUP BY 1, 2, 3
),
placed AS (
  SELECT
    *,
    row_number() OVER (PARTITION BY keyspace, table_name ORDER BY measure DESC NULLS LAST) AS place
  FROM partitions
)
SELECT
  coalesce(keyspace, '') AS keyspace,
  coalesce(table_name, '') AS table_name,
  count(token) AS partitions,
  CAST(round(sum(requests)) AS BIGINT) AS requests,
  CAST(round(coalesce(sum(CASE WHEN token IS NULL THEN requests END), 0)) AS BIGINT) AS without_token,
  coalesce(sum(measure), 0) AS measure,
  coalesce(sum(CASE WHEN place = 1 THEN measure END), 0) AS top_1,
  coalesce(sum(CASE WHEN place <= 10 THEN measure END), 0) AS top_10,
  coalesce(sum(CASE WHEN place <= 100 THEN measure END), 0) AS top_100
FROM placed
GROUP BY 1, 2
ORDER BY measure DESC, keyspace, table_name
