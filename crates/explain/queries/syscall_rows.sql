-- In which of these tables are there rows?
SELECT
  (SELECT count(*) FROM syscalls) AS syscalls,
  (SELECT count(*) FROM syscall_summary) AS summary,
  (SELECT count(*) FROM all_requests) AS requests
