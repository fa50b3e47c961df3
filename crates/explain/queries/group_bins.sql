-- How much CPU time did each thread group use, bin by bin?
SELECT process, thread_group, (time_ns - interval_ns / 2 - $start_ns) / $bin_ns AS bin, sum(cpu_ns) AS cpu_ns
FROM threads
GROUP BY 1, 2, 3
ORDER BY 1, 2, 3
