-- Where does the time of the metered methods go?
SELECT
  probe,
  sum(calls) AS calls,
  sum(total_ns) AS total_ns,
  sum(inherent_ns) AS own_ns,
  max(max_ns) AS max_ns,
  max(off_reason) AS off_reason,
  min(time_ns - interval_ns) AS start_ns,
  max(time_ns) AS end_ns
FROM probes
GROUP BY probe
ORDER BY own_ns DESC, probe
