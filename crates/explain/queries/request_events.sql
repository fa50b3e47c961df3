-- Which requests are these, the longest first?
SELECT
  intended_start_ns AS start_ns,
  end_ns - intended_start_ns AS duration_ns,
  node,
  '' AS thread_group,
  CAST(NULL AS BIGINT) AS tid,
  operation AS call,
  '' AS file,
  response_bytes AS bytes,
  CASE WHEN outcome = 'ok' THEN NULL ELSE outcome END AS error
FROM all_requests
WHERE intended_start_ns >= $from_ns AND intended_start_ns < $to_ns
  AND end_ns - intended_start_ns >= $low_ns AND end_ns - intended_start_ns < $high_ns
  AND outcome IN ('ok', 'timeout', 'write_timeout', 'read_timeout') AND $filter
ORDER BY duration_ns DESC, start_ns
LIMIT $limit
