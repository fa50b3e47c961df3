-- How many requests of a statement took how long, by powers of the root of two?
SELECT
  CAST(floor(log2(greatest(end_ns - intended_start_ns, 1)) * 2) AS BIGINT) AS place,
  CAST(round(sum(weight)) AS BIGINT) AS requests
FROM all_requests
WHERE $filter
GROUP BY 1
ORDER BY 1
