-- What did all CPUs together do, bin by bin?
SELECT
  node,
  (time_ns - interval_ns / 2 - $start_ns) / $bin_ns AS bin,
  sum(user_ns) AS user_ns,
  sum(system_ns) AS system_ns,
  sum(iowait_ns) AS iowait_ns,
  sum(irq_ns) + sum(softirq_ns) AS irq_ns,
  sum(steal_ns) AS steal_ns,
  sum(idle_ns) AS idle_ns
FROM cpus
GROUP BY 1, 2
ORDER BY 1, 2
