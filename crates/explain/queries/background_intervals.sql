-- When did compactions and flushes use CPU time? The kernel keeps 15 characters of a thread's name.
SELECT
  time_ns,
  max(interval_ns) AS interval_ns,
  sum(cpu_ns) AS cpu_ns
FROM threads
WHERE process = 'server'
  AND (thread_group LIKE 'CompactionExec%'
    OR thread_group LIKE 'ValidationExec%'
    OR thread_group LIKE 'MemtableFlush%'
    OR thread_group LIKE 'MemtablePostFl%'
    OR thread_group LIKE 'PerDiskMemtabl%')
GROUP BY time_ns
ORDER BY time_ns
