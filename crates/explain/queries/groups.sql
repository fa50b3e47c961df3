-- Which thread groups used the CPUs, waited for them, and moved between them?
SELECT
  process,
  thread_group,
  count(DISTINCT tid) AS threads,
  sum(cpu_ns) AS cpu_ns,
  sum(run_queue_ns) AS run_queue_ns,
  sum(migrations) AS migrations,
  sum(voluntary_switches) AS voluntary_switches,
  sum(involuntary_switches) AS involuntary_switches
FROM threads
GROUP BY process, thread_group
ORDER BY cpu_ns DESC, process, thread_group
