-- When did the recorder record less to keep to its budget, and what did it leave out?
SELECT time_ns - interval_ns AS start_ns, time_ns AS end_ns, lost_reason AS left_out, cpu_ns
FROM sources
WHERE source = 'budget' AND lost_reason <> ''
ORDER BY time_ns
