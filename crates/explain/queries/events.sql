-- What happened when: what the nodes' logs say, processes that ended, and settings that changed while it was recorded?
WITH changed AS (
  SELECT
    time_ns,
    node,
    setting,
    value,
    lag(value) OVER (PARTITION BY node, setting ORDER BY time_ns) AS before
  FROM settings
  -- Counts of a process and free space differ whenever they are read.
  WHERE setting NOT LIKE 'process.%' AND setting NOT LIKE 'disk.%_bytes:%'
)
SELECT time_ns, node, kind, what FROM events
UNION ALL
SELECT time_ns, node, 'setting' AS kind, setting || ' changed from ' || before || ' to ' || value AS what
FROM changed
WHERE before IS NOT NULL AND before <> value
ORDER BY time_ns
