-- From when to when does the recording reach? A copy has states from before its time, such as SSTables, which count only in a
-- recording that has nothing else.
SELECT
  coalesce(min(first_ns) FILTER (WHERE NOT is_state), min(first_ns)) AS first_ns,
  coalesce(max(last_ns) FILTER (WHERE NOT is_state), max(last_ns)) AS last_ns
FROM (
  SELECT min(intended_start_ns) AS first_ns, max(end_ns) AS last_ns, false AS is_state FROM all_requests
  UNION ALL SELECT min(start_ns), max(end_ns), false FROM marks
  UNION ALL SELECT min(time_ns - interval_ns), max(time_ns), false FROM cpus
  UNION ALL SELECT min(time_ns - interval_ns), max(time_ns), false FROM threads
  UNION ALL SELECT min(time_ns), max(time_ns), false FROM pools
  UNION ALL SELECT min(time_ns), max(time_ns), false FROM table_stats
  UNION ALL SELECT min(time_ns), max(time_ns), true FROM sstables
  UNION ALL SELECT min(time_ns - interval_ns), max(time_ns), false FROM probes
  UNION ALL SELECT min(time_ns - interval_ns), max(time_ns), false FROM valves
  UNION ALL SELECT min(start_ns), max(start_ns + duration_ns), false FROM pauses
  UNION ALL SELECT min(start_ns), max(start_ns + duration_ns), false FROM stalls
  UNION ALL SELECT min(start_ns), max(start_ns), false FROM syscalls
  UNION ALL SELECT min(time_ns - interval_ns), max(time_ns), false FROM syscall_summary
)
