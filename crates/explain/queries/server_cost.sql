-- server_cost
-- What CPU time, context switches and moves between CPUs did the nodes take, and how long did their threads wait for a CPU?
SELECT
  sum(cpu_ns) AS cpu_ns,
  sum(run_queue_ns) AS run_queue_ns,
  sum(migrations) AS migrations,
  sum(involuntary_switches) AS involuntary_switches,
  CASE WHEN count(voluntary_switches) + count(involuntary_switches) > 0
    THEN sum(coalesce(voluntary_switches, 0) + coalesce(involuntary_switches, 0)) END AS switches
FROM threads
WHERE process = 'server' AND $filter
