-- What was every system call?
SELECT start_ns, duration_ns, thread_group, tid, call, file, bytes, error
FROM syscalls
WHERE start_ns >= $from_ns AND start_ns < $to_ns
