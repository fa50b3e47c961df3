-- How busy was each disk meanwhile, and how long did a request of it take?
SELECT
  time_ns,
  device,
  reads,
  writes,
  (read_ns + write_ns) / 1e6 / CASE WHEN reads + writes > 0 THEN reads + writes ELSE 1 END AS mean_ms,
  CAST(busy_ns AS DOUBLE) / interval_ns AS busy_share
FROM disks
WHERE time_ns > $start_ns AND time_ns - interval_ns < $end_ns
ORDER BY busy_ns DESC
LIMIT 100
