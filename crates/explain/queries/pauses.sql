-- When did the JVMs stop their threads?
SELECT start_ns, duration_ns, node, kind, gc_id, collector, cause, phase
FROM pauses
ORDER BY start_ns
