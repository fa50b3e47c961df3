-- How often does a client send a request for the same partition again, within a second after it failed, within a second after it
-- succeeded, or to another node before it ended? One partition in $every is looked at.
SELECT
  node,
  client,
  count(CASE WHEN error IS NOT NULL THEN 1 END) AS failed,
  count(CASE WHEN error IS NOT NULL AND next_ns - end_ns BETWEEN 0 AND 1000000000 THEN 1 END) AS after_failure,
  count(CASE WHEN error IS NULL THEN 1 END) AS succeeded,
  count(CASE WHEN error IS NULL AND next_ns - end_ns BETWEEN 0 AND 1000000000 THEN 1 END) AS after_success,
  count(CASE WHEN next_ns < end_ns AND next_node <> node THEN 1 END) AS elsewhere_meanwhile,
  count(CASE WHEN next_ns < end_ns AND next_node = node THEN 1 END) AS here_meanwhile
FROM (
  SELECT
    node,
    client,
    error,
    start_ns + duration_ns AS end_ns,
    lead(start_ns) OVER (PARTITION BY client, statement, token ORDER BY start_ns) AS next_ns,
    lead(node) OVER (PARTITION BY client, statement, token ORDER BY start_ns) AS next_node
  FROM wire
  WHERE token % $every = 0
)
GROUP BY 1, 2
ORDER BY failed DESC, 1, 2
