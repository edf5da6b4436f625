-- Up Migration
-- What people know a line's key or subscription by, written with the line: neither ever changes, and the operators' log of everybody need
-- not look it up. Null on older lines, which are looked up as before.
ALTER TABLE audit_log ADD COLUMN label text;

CREATE FUNCTION fill_audit_label() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.label IS NULL AND NEW.subject_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
    NEW.label := CASE NEW.subject_kind
      WHEN 'credential' THEN (SELECT prefix || '…' || last_four FROM credential WHERE id = NEW.subject_id::uuid)
      WHEN 'subscription' THEN (SELECT product_id FROM subscription WHERE id = NEW.subject_id::uuid)
    END;
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER audit_log_knows_label BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION fill_audit_label();
