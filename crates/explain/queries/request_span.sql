-- From when to when were there requests?
SELECT min(intended_start_ns) AS first_ns, max(end_ns) AS last_ns,
  count(*) AS followed, coalesce(sum(weight), 0) AS requests FROM all_requests
