-- Which collections were there, how long did the JVM stand for each, and what did each leave?
SELECT
  node,
  gc_id,
  collector,
  min(start_ns) AS start_ns,
  sum(duration_ns) AS paused_ns,
  max(duration_ns) AS longest_ns,
  max(heap_before_bytes) AS heap_before_bytes,
  max(heap_after_bytes) AS heap_after_bytes
FROM pauses
WHERE kind = 'gc'
GROUP BY node, gc_id, collector
ORDER BY node, start_ns
