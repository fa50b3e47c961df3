-- When was each request in its node, as seen on the wire?
SELECT node, start_ns, start_ns + duration_ns AS end_ns
FROM wire
WHERE opcode IN ('QUERY', 'EXECUTE', 'BATCH')
ORDER BY start_ns
