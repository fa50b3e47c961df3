-- How is each node set up, by the last that was recorded of each setting?
SELECT
  node,
  setting,
  last_value(value ORDER BY time_ns) AS value
FROM settings
GROUP BY node, setting
ORDER BY node, setting
