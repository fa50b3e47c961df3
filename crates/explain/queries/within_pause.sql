-- How much CPU time did a node's threads use within a pause, and for how long did tasks of the machine wait for a disk?
SELECT
  (
    SELECT COALESCE(sum(cpu_ns), 0) FROM threads
    WHERE process = 'server' AND node = $node AND time_ns - interval_ns >= $start_ns AND time_ns <= $end_ns
  ) AS cpu_ns,
  (
    SELECT COALESCE(sum(some_ns), 0) FROM pressure
    WHERE resource = 'io' AND time_ns - interval_ns >= $start_ns AND time_ns <= $end_ns
  ) AS disk_ns,
  (
    SELECT count(*) FROM threads
    WHERE process = 'server' AND node = $node AND time_ns > $start_ns - 1000000000 AND time_ns < $end_ns + 1000000000
  ) AS seen
