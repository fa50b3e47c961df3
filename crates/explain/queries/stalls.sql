-- When did a process not run that should have?
SELECT start_ns, duration_ns, side, node, kind
FROM stalls
ORDER BY start_ns
