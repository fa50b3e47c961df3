-- How busy was each disk, and how long did a request of it take?
SELECT
  time_ns,
  interval_ns,
  device,
  reads + writes AS requests,
  read_ns + write_ns AS total_ns,
  busy_ns
FROM disks
ORDER BY time_ns
