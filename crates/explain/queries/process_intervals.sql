-- How much CPU time did the nodes and the load driver use, and how long did their threads wait for a CPU?
SELECT
  node,
  time_ns,
  max(interval_ns) AS interval_ns,
  process,
  sum(cpu_ns) AS cpu_ns,
  sum(run_queue_ns) AS run_queue_ns
FROM threads
GROUP BY node, time_ns, process
ORDER BY time_ns
