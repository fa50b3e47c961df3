-- Which system calls took long, but for those that wait for something to happen?
SELECT start_ns, duration_ns, node, tid, thread_group, call, file, bytes, error
FROM syscalls
WHERE duration_ns >= $threshold_ns AND start_ns >= $start_ns AND start_ns < $end_ns
  AND call NOT IN ('futex', 'epoll_wait', 'epoll_pwait', 'poll', 'ppoll', 'select', 'pselect6', 'nanosleep', 'clock_nanosleep')
ORDER BY start_ns
