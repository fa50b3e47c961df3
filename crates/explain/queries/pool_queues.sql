-- How full were the thread pools that requests go through?
SELECT time_ns, node, pool, active, pending, blocked, max_size
FROM pools
WHERE kind <> 'internal'
ORDER BY node, pool, time_ns
