-- Which system calls are these, the longest first?
SELECT start_ns, duration_ns, node, thread_group, tid, call, file, bytes, error
FROM syscalls
WHERE start_ns >= $from_ns AND start_ns < $to_ns AND duration_ns >= $low_ns AND duration_ns < $high_ns AND $filter
ORDER BY duration_ns DESC, start_ns
LIMIT $limit
