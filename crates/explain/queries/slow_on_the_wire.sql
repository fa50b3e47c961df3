-- How long was each slow request in the node, and how long between driver and node?
SELECT intended_start_ns, end_ns, in_node_ns, end_ns - at_ns - in_node_ns AS between_ns
FROM split
WHERE in_node_ns IS NOT NULL AND end_ns - intended_start_ns > $threshold_ns
