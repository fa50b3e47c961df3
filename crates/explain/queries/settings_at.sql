-- Which value had each setting of a node, and which limit each of its valves, at the end of a window?
SELECT node, setting, last_value(value ORDER BY time_ns) AS value
FROM settings
-- Counts of a process and free space differ whenever they are read.
WHERE time_ns < $end_ns AND setting NOT LIKE 'process.%' AND setting NOT LIKE 'disk.%_bytes:%'
GROUP BY node, setting
UNION ALL
SELECT
  node,
  concat('valve ', valve) AS setting,
  last_value(coalesce(CAST(next_limit AS VARCHAR), 'open') ORDER BY time_ns) AS value
FROM valves
WHERE time_ns >= $start_ns AND time_ns < $end_ns
GROUP BY node, valve
ORDER BY node, setting
