-- How long did the thread of each process that waited most for a CPU wait, interval by interval, and among collectors' threads?
SELECT
  time_ns,
  interval_ns,
  CASE WHEN process = 'load' THEN '' ELSE node END AS node,
  CASE
    WHEN process = 'load' THEN 'load'
    WHEN thread_group LIKE 'GC %' OR thread_group LIKE 'G1 %' OR thread_group LIKE 'VM Thread%'
      OR thread_group LIKE 'ZWorker%' OR thread_group LIKE 'Shenandoah%' THEN 'collector'
    ELSE 'server'
  END AS kind,
  max(run_queue_ns) AS waited_ns
FROM threads
WHERE run_queue_ns > 0 AND process IN ('server', 'load')
GROUP BY 1, 2, 3, 4
ORDER BY time_ns
