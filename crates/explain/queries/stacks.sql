-- What are the frames of each stack?
SELECT stack, min(frames) AS frames, min(kinds) AS kinds
FROM stacks
GROUP BY stack
