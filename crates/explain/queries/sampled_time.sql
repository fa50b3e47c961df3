-- When does the sampling of stacks begin, and when does it end?
SELECT min(time_ns) AS first_ns, max(time_ns) AS last_ns
FROM samples
