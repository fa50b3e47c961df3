-- How many rows has each table that explain asks?
SELECT 'cpus' AS name, count(*) AS rows FROM cpus
UNION ALL SELECT 'pauses', count(*) FROM pauses
UNION ALL SELECT 'pools', count(*) FROM pools
UNION ALL SELECT 'stalls', count(*) FROM stalls
UNION ALL SELECT 'stalls of load', count(*) FROM stalls WHERE side = 'load'
UNION ALL SELECT 'stalls of server', count(*) FROM stalls WHERE side = 'server'
UNION ALL SELECT 'threads', count(*) FROM threads
UNION ALL SELECT 'table_stats', count(*) FROM table_stats
UNION ALL SELECT 'settings', count(*) FROM settings
UNION ALL SELECT 'wire', count(*) FROM wire
UNION ALL SELECT 'system calls', (SELECT count(*) FROM syscalls) + (SELECT count(*) FROM syscall_summary)
