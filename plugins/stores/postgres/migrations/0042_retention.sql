-- Up Migration
-- Old lines of the audit log may go (docs/decisions/0041-retention.md). All else about it stays: no line is changed, the table is not emptied,
-- and no line that is younger than 90 days is deleted by anybody.

-- The trigger of migration 0001 is called once a statement and sees no line: of deletions the one for rows decides, which sees their age.
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_LEVEL = 'STATEMENT' THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'the audit log is only ever appended to' USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_log_is_append_only';
END $$;
CREATE TRIGGER audit_log_keeps_young_lines BEFORE DELETE ON audit_log
  FOR EACH ROW WHEN (OLD.at > now() - interval '90 days') EXECUTE FUNCTION refuse_audit_change();

-- Deletes up to p_most of the oldest lines that are older than p_days. By their numbers, in whose order they were written: no index on
-- their time is needed. One process at a time; another one gets 0.
CREATE FUNCTION audit_forget(p_days integer, p_most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  gone integer;
BEGIN
  IF NOT pg_try_advisory_xact_lock(720260042) THEN RETURN 0; END IF;
  DELETE FROM audit_log
  WHERE at < now() - make_interval(days => GREATEST(p_days, 90))
    AND id = ANY (ARRAY(SELECT id FROM audit_log ORDER BY id LIMIT p_most));
  GET DIAGNOSTICS gone = ROW_COUNT;
  RETURN gone;
END $$;

-- Decisions on requests without a known key, which are kept in a share of their own.
CREATE INDEX decision_anonymous_idx ON decision (at) WHERE customer_id IS NULL;
