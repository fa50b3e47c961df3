-- How busy were compactions and flushes, second by second, and how many slow requests were due then?
WITH background AS (
  SELECT
    (time_ns - interval_ns / 2 - $start_ns) / 1000000000 AS second,
    sum(cpu_ns) / 1e6 AS compaction_and_flush_cpu_ms
  FROM threads
  WHERE process = 'server'
    AND time_ns > $start_ns AND time_ns <= $end_ns
    AND (thread_group LIKE 'CompactionExec%'
    OR thread_group LIKE 'ValidationExec%'
    OR thread_group LIKE 'MemtableFlush%'
    OR thread_group LIKE 'MemtablePostFl%'
    OR thread_group LIKE 'PerDiskMemtabl%')
  GROUP BY 1
), slow AS (
  SELECT (r.intended_start_ns - $start_ns) / 1000000000 AS second, count(*) AS slow_requests
  FROM all_requests r
  WHERE r.end_ns - r.intended_start_ns > $threshold_ns
  AND r.intended_start_ns >= $start_ns AND r.intended_start_ns < $end_ns
  GROUP BY 1
)
SELECT b.second, b.compaction_and_flush_cpu_ms, coalesce(s.slow_requests, 0) AS slow_requests
FROM background b
LEFT JOIN slow s ON s.second = b.second
ORDER BY b.second
