-- While stacks were sampled, how much CPU time did the kernel count of the nodes' threads?
SELECT sum(cpu_ns) AS cpu_ns
FROM threads
WHERE process = 'server' AND ($group = '' OR thread_group = $group)
  AND time_ns > greatest($start_ns, (SELECT min(time_ns) FROM samples WHERE event = 'cpu'))
  AND time_ns - interval_ns < least($end_ns, (SELECT max(time_ns) FROM samples WHERE event = 'cpu'))
