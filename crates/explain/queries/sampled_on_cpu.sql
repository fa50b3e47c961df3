-- Were stacks sampled of the threads on a CPU?
SELECT event
FROM samples
WHERE event = 'cpu'
LIMIT 1
