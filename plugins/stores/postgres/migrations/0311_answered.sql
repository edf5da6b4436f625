-- What a product service answered each request that has a line in the log.

-- Room on each page for a second version of a line, so that its indexes stay untouched.
ALTER TABLE decision SET (fillfactor = 80);
CREATE FUNCTION note_requests(p_rows json) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE decision SET status = answered.status, milliseconds = answered.milliseconds
  FROM json_to_recordset(p_rows) AS answered ("requestId" text, status smallint, milliseconds integer)
  WHERE decision.request_id = answered."requestId" AND decision.outcome = 'admitted' AND decision.status IS NULL
$$;
COMMENT ON FUNCTION note_requests IS 'Adds to lines of the log what their requests were answered. A service calls it; the first to tell counts.';
REVOKE ALL ON FUNCTION note_requests(json) FROM PUBLIC;
