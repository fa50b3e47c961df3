-- When did tasks of the machine wait for CPUs, disks or memory, and how long?
SELECT time_ns, interval_ns, resource, some_ns
FROM pressure
ORDER BY time_ns
