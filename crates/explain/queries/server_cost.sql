-- server_cost
-- What CPU time and how many context switches did the nodes take?
SELECT
  sum(cpu_ns) AS cpu_ns,
  CASE WHEN count(voluntary_switches) + count(involuntary_switches) > 0
    THEN sum(coalesce(voluntary_switches, 0) + coalesce(involuntary_switches, 0)) END AS switches
FROM threads
WHERE process = 'server' AND $filter
