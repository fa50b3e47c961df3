-- How often was each operation of the load sent?
SELECT operation, count(*) AS requests
FROM requests
GROUP BY operation
