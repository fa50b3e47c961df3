-- What were stacks sampled of?
SELECT event, count(*) AS samples
FROM samples
GROUP BY event
ORDER BY event
