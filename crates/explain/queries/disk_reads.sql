-- What of each file had to come from the disk, through mappings and by calls, for requests or behind their back?
SELECT
  node,
  -- One that nobody could name any more is known by its number.
  CASE WHEN file = '' THEN concat('inode ', inode, ' of ', device) ELSE file END AS file,
  how = 'mapping' AS is_mapped,
  thread_group IN ('ReadStage', 'Native-Transport-Requests', 'MutationStage', 'CounterMutationStage', 'SharedPool-Worker', 'RequestResponseStage')
    AS is_request,
  sum(faults) AS faults,
  sum(bytes) AS bytes
FROM page_cache
GROUP BY 1, 2, 3, 4
ORDER BY bytes DESC
