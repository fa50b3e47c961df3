-- How long did tasks of each node wait for memory, and how often for a page from a disk?
SELECT
  node,
  COALESCE(sum(memory_some_ns), 0) AS waited_ns,
  sum(CASE WHEN memory_some_ns IS NULL THEN 0 ELSE interval_ns END) AS waits_seen_ns,
  COALESCE(sum(major_faults), 0) AS major_faults,
  sum(CASE WHEN major_faults IS NULL THEN 0 ELSE interval_ns END) AS faults_seen_ns
FROM node_pressure
GROUP BY node
ORDER BY node
