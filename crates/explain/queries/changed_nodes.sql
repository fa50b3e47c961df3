-- changed_nodes
-- Which nodes did the variants of the experiment change, where they left others alone?
SELECT DISTINCT name
FROM marks
WHERE kind = 'changed'
ORDER BY name
