-- When were the threads of which node looked at? The load driver is no node.
SELECT node, time_ns, interval_ns
FROM sources
WHERE source = 'threads'
ORDER BY time_ns
