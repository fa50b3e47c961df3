-- Which phases of loads in other processes are not judged?
SELECT start_ns, end_ns, name
FROM marks
WHERE kind = 'unjudged'
ORDER BY start_ns, end_ns
