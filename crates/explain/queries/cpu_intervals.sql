-- What did all CPUs of the machine together do, interval by interval?
SELECT
  node,
  time_ns,
  max(interval_ns) AS interval_ns,
  sum(user_ns) AS user_ns,
  sum(system_ns) AS system_ns,
  sum(iowait_ns) AS iowait_ns,
  sum(irq_ns) + sum(softirq_ns) AS irq_ns,
  sum(steal_ns) AS steal_ns,
  sum(idle_ns) AS idle_ns
FROM cpus
GROUP BY node, time_ns
ORDER BY node, time_ns
