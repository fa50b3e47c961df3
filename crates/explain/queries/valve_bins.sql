-- How did each valve stand, bin by bin? The last limit of a bin counts; a wait is the mean of all that came out.
WITH placed AS (
  SELECT
    v.node,
    v.valve,
    (v.time_ns - v.interval_ns / 2 - $start_ns) / $bin_ns AS bin,
    v.time_ns,
    v.interval_ns,
    v.limit AS most_inside,
    v.in_flight,
    v.waiting,
    v.completed,
    v.wait_mean_ns,
    CASE WHEN v.wait_mean_ns IS NOT NULL THEN v.completed + v.failed END AS waited
  FROM valves v
),
ranked AS (
  SELECT *, row_number() OVER (PARTITION BY node, valve, bin ORDER BY time_ns DESC) AS from_last
  FROM placed
)
SELECT
  node,
  valve,
  bin,
  max(CASE WHEN from_last = 1 THEN most_inside END) AS last_limit,
  sum(in_flight * interval_ns) / NULLIF(sum(interval_ns), 0) AS mean_inside,
  sum(waiting * interval_ns) / NULLIF(sum(interval_ns), 0) AS mean_waiting,
  sum(completed) * 1e9 / NULLIF(sum(interval_ns), 0) AS completed_per_s,
  sum(CAST(wait_mean_ns AS DOUBLE) * waited) / NULLIF(sum(waited), 0) / 1e6 AS wait_ms
FROM ranked
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
