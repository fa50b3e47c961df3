-- What does each client send, by kind of request, statement and consistency?
SELECT
  node,
  client,
  opcode,
  statement,
  coalesce(consistency, '') AS consistency,
  CAST(round(sum(coalesce(weight, 1))) AS BIGINT) AS requests,
  CAST(round(sum(CASE WHEN page_size IS NULL AND NOT further_page THEN coalesce(weight, 1) ELSE 0 END)) AS BIGINT) AS without_pages,
  CAST(round(sum(CASE WHEN response_bytes >= $threshold_bytes THEN coalesce(weight, 1) ELSE 0 END)) AS BIGINT) AS large_answers,
  max(response_bytes) AS largest_answer_bytes,
  coalesce(max(rows_returned), 0) AS most_rows,
  CAST(round(sum(CASE WHEN to_replica IS NOT NULL THEN coalesce(weight, 1) ELSE 0 END)) AS BIGINT) AS with_replicas,
  CAST(round(sum(CASE WHEN NOT to_replica THEN coalesce(weight, 1) ELSE 0 END)) AS BIGINT) AS to_others,
  CAST(round(sum(CASE WHEN sending_ns >= $threshold_ns THEN coalesce(weight, 1) ELSE 0 END)) AS BIGINT) AS held_up,
  max(sending_ns) AS longest_sending_ns,
  min(client_ahead_ns) AS least_ahead_ns,
  max(client_ahead_ns) AS most_ahead_ns
FROM wire
GROUP BY 1, 2, 3, 4, 5
ORDER BY requests DESC, 1, 2, 3, 4, 5
