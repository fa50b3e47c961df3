-- report_probes
-- What did each probe meter, all nodes and thread groups together, and over how much time?
WITH chosen AS (
  SELECT time_ns, interval_ns, node, probe, calls, failed, total_ns, inherent_ns, max_ns, off_reason
  FROM probes
  WHERE $filter
),
by_interval AS (
  SELECT node, time_ns, max(interval_ns) AS interval_ns
  FROM chosen
  GROUP BY node, time_ns
),
-- An interval in which nothing was called has no row; of several nodes it is the mean.
metered AS (
  SELECT CAST(sum(interval_ns) AS DOUBLE) / count(DISTINCT node) AS metered_ns
  FROM by_interval
),
switched_off AS (
  SELECT probe, off_reason, row_number() OVER (PARTITION BY probe ORDER BY time_ns DESC, node) AS from_last
  FROM chosen
  WHERE off_reason IS NOT NULL
)
SELECT
  c.probe,
  sum(c.calls) AS calls,
  sum(c.failed) AS failed,
  sum(c.total_ns) AS total_ns,
  sum(c.inherent_ns) AS own_ns,
  max(c.max_ns) AS max_ns,
  max(m.metered_ns) AS metered_ns,
  max(o.off_reason) AS off_reason
FROM chosen c
CROSS JOIN metered m
LEFT JOIN switched_off o ON o.probe = c.probe AND o.from_last = 1
GROUP BY c.probe
ORDER BY 5 DESC, 1
