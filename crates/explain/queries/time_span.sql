-- From when to when does the recording reach?
SELECT min(first_ns) AS first_ns, max(last_ns) AS last_ns
FROM (
  SELECT min(intended_start_ns) AS first_ns, max(end_ns) AS last_ns FROM all_requests
  UNION ALL SELECT min(start_ns), max(end_ns) FROM marks
  UNION ALL SELECT min(time_ns - interval_ns), max(time_ns) FROM cpus
  UNION ALL SELECT min(time_ns - interval_ns), max(time_ns) FROM threads
  UNION ALL SELECT min(time_ns), max(time_ns) FROM pools
  UNION ALL SELECT min(time_ns), max(time_ns) FROM table_stats
  UNION ALL SELECT min(time_ns - interval_ns), max(time_ns) FROM probes
  UNION ALL SELECT min(time_ns - interval_ns), max(time_ns) FROM valves
  UNION ALL SELECT min(start_ns), max(start_ns + duration_ns) FROM pauses
  UNION ALL SELECT min(start_ns), max(start_ns + duration_ns) FROM stalls
  UNION ALL SELECT min(start_ns), max(start_ns) FROM syscalls
  UNION ALL SELECT min(time_ns - interval_ns), max(time_ns) FROM syscall_summary
)
