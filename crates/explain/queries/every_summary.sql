-- What was every bin of the summary of system calls?
SELECT time_ns - interval_ns AS start_ns, low_ns, thread_group, call, file, count AS events, total_ns, bytes, errors
FROM syscall_summary
WHERE time_ns - interval_ns >= $from_ns AND time_ns - interval_ns < $to_ns
