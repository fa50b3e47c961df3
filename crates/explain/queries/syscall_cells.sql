-- How many system calls began when, and how long did they take?
SELECT
  (start_ns - $start_ns) / $bin_ns AS bin,
  CAST(floor(log10(greatest(duration_ns, 1)) * $columns / 10) AS BIGINT) AS place,
  count(*) AS events
FROM syscalls
WHERE start_ns >= $from_ns AND start_ns < $to_ns AND $filter
GROUP BY 1, 2
