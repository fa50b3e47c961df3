-- time_in_node
-- How long did the nodes take for a request, as its packets passed?
SELECT avg(duration_ns) / 1e6 AS time_in_node_ms
FROM wire
WHERE opcode NOT IN ('OPTIONS', 'STARTUP', 'REGISTER', 'PREPARE', 'AUTH_RESPONSE') AND $filter
