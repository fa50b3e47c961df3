-- How many requests were due when, and how long was the response time of those that have one?
SELECT
  (intended_start_ns - $start_ns) / $bin_ns AS bin,
  CAST(floor(log10(greatest(end_ns - intended_start_ns, 1)) * $columns / 10) AS BIGINT) AS place,
  CAST(round(sum(weight)) AS BIGINT) AS events
FROM all_requests
WHERE intended_start_ns >= $from_ns AND intended_start_ns < $to_ns
  AND outcome IN ('ok', 'timeout', 'write_timeout', 'read_timeout') AND $filter
GROUP BY 1, 2
