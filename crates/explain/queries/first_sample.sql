-- When does the sampling of stacks begin?
SELECT min(time_ns) AS time_ns
FROM samples
