-- How many slow requests were under way while the CPUs were how idle?
WITH intervals AS (
  SELECT
    time_ns - max(interval_ns) AS start_ns,
    time_ns AS end_ns,
    CAST(sum(idle_ns) + sum(iowait_ns) AS DOUBLE)
      / sum(user_ns + system_ns + iowait_ns + irq_ns + softirq_ns + steal_ns + idle_ns) AS idle_share
  FROM cpus
  WHERE time_ns > $start_ns AND time_ns - interval_ns < $end_ns
  GROUP BY node, time_ns
), slow AS (
  SELECT r.intended_start_ns, r.end_ns
  FROM all_requests r
  WHERE r.end_ns - r.intended_start_ns > $threshold_ns
  AND r.intended_start_ns >= $start_ns AND r.intended_start_ns < $end_ns
)
SELECT
  CASE WHEN idle_share < 0.1 THEN 'below 10 %' WHEN idle_share < 0.5 THEN '10 to 50 %' ELSE 'above 50 %' END AS idle,
  count(DISTINCT i.end_ns) AS intervals,
  sum(CASE WHEN r.end_ns IS NULL THEN 0 ELSE 1 END) AS slow_requests
FROM intervals i
LEFT JOIN slow r ON r.intended_start_ns < i.end_ns AND r.end_ns > i.start_ns
GROUP BY 1
ORDER BY 1
