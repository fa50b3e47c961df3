-- What was every system call?
SELECT start_ns, duration_ns, thread_group, tid, call, file, bytes, error
FROM syscalls
