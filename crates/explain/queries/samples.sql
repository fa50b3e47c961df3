-- What were the threads doing?
SELECT time_ns, thread_group, thread, stack, weight
FROM samples
WHERE event = $event AND time_ns >= $start_ns AND time_ns < $end_ns
