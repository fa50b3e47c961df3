-- How many requests were chosen, and how many are there?
SELECT
  CAST(coalesce(sum(CASE WHEN $filter THEN weight ELSE 0 END), 0) AS DOUBLE) AS chosen,
  CAST(coalesce(sum(weight), 0) AS DOUBLE) AS requests
FROM all_requests
