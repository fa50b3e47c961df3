-- For how much of its CPU time did G1 mark beside the requests, at each node?
SELECT
  node,
  sum(CASE WHEN thread_group IN ('G1 Conc', 'G1 Main Marker') THEN cpu_ns ELSE 0 END) AS marking_ns,
  sum(cpu_ns) AS cpu_ns
FROM threads
WHERE process = 'server'
GROUP BY node
ORDER BY node
