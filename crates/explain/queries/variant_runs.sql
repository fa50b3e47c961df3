-- variant_runs
-- Which variant of the experiment was run when, and in which block?
SELECT kind, start_ns, end_ns, name, block, measured
FROM marks
WHERE kind IN ('variant', 'baseline')
ORDER BY start_ns, kind
