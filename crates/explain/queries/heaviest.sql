-- Were some connections on the wire not followed? Then a recorded request stands for several.
SELECT max(weight) AS weight
FROM wire
