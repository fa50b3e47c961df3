-- From when to when were there requests?
SELECT min(intended_start_ns) AS first_ns, max(end_ns) AS last_ns FROM all_requests
