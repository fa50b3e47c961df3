-- What was each thread doing, and when?
SELECT time_ns, node, tid, thread, thread_group, stack, weight
FROM samples
WHERE event = $event AND time_ns >= $start_ns AND time_ns < $end_ns
