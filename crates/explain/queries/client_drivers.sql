-- Which drivers does each client host have?
SELECT
  client,
  coalesce(driver, '') AS driver,
  coalesce(driver_version, '') AS driver_version,
  count(DISTINCT client_port) AS connections
FROM connections
WHERE driver IS NOT NULL
GROUP BY 1, 2, 3
ORDER BY 1, connections DESC, 2, 3
