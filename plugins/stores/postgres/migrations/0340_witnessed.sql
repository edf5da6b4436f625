-- The gateway tells what each request was answered with; see plugins/server/answers/witness.ts.

ALTER TABLE decision ADD COLUMN bytes bigint;
CREATE OR REPLACE FUNCTION note_requests(p_rows json) RETURNS void LANGUAGE sql SECURITY DEFINER SET search_path = public, pg_temp AS $$
  UPDATE decision SET status = answered.status, milliseconds = answered.milliseconds, bytes = answered.bytes
  FROM json_to_recordset(p_rows) AS answered ("requestId" text, status smallint, milliseconds integer, bytes bigint)
  WHERE decision.request_id = answered."requestId" AND decision.outcome = 'admitted' AND decision.status IS NULL
$$;
COMMENT ON FUNCTION note_requests IS 'Adds to lines of the log what their requests were answered. A plugin server calls it; the first to tell counts.';
