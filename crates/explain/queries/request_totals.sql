-- Which operations on which nodes took so long in this time, and how did they end?
SELECT
  operation AS call,
  node AS file,
  outcome AS thread_group,
  CAST(round(sum(weight)) AS BIGINT) AS events,
  CAST(sum((end_ns - intended_start_ns) * weight) AS BIGINT) AS total_ns,
  max(end_ns - intended_start_ns) AS longest_ns,
  CAST(sum((coalesce(request_bytes, 0) + coalesce(response_bytes, 0)) * weight) AS BIGINT) AS bytes,
  CAST(round(sum(CASE WHEN outcome = 'ok' THEN 0 ELSE weight END)) AS BIGINT) AS errors
FROM all_requests
WHERE intended_start_ns >= $from_ns AND intended_start_ns < $to_ns
  AND end_ns - intended_start_ns >= $low_ns AND end_ns - intended_start_ns < $high_ns
  AND outcome IN ('ok', 'timeout', 'write_timeout', 'read_timeout') AND $filter
GROUP BY 1, 2, 3
