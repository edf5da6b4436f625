-- Up Migration
-- Changes of an e-mail address that wait to be confirmed at both: the old one allows it, the new one proves who reads it.

CREATE TABLE email_change (
  -- One a person: asking again takes the place of what was asked before.
  user_id uuid PRIMARY KEY REFERENCES auth_user ON DELETE CASCADE,
  new_email text NOT NULL CHECK (new_email = lower(new_email) AND new_email ~ '^[^@\s]+@[^@\s]+$' AND length(new_email) <= 254),
  -- SHA-256 of the tokens in the two links: a copy of the database confirms nothing.
  old_token bytea NOT NULL UNIQUE CHECK (octet_length(old_token) = 32),
  new_token bytea NOT NULL UNIQUE CHECK (octet_length(new_token) = 32),
  allowed_at timestamptz,
  proved_at timestamptz,
  -- The session that asked is the one that stays.
  session_id uuid NOT NULL,
  expires_at timestamptz NOT NULL DEFAULT now() + interval '1 hour'
);

-- As in migration 0135, and under every address that the person has had.
CREATE OR REPLACE FUNCTION erase_from_audit_log(p_customer uuid, p_address text, p_name text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  actors text[] := ARRAY['dashboard:' || p_address, 'dashboard:' || lower(p_address)] || ARRAY(
    SELECT 'dashboard:' || (details ->> 'before') FROM audit_log WHERE customer_id = p_customer AND action = 'account.email_change'
  );
BEGIN
  PERFORM set_config('tollgate.erasing', 'on', true);
  UPDATE audit_log SET
    details = '{}',
    from_address = CASE WHEN actor ~ '^(dashboard|token):' THEN NULL ELSE from_address END,
    actor = CASE WHEN actor LIKE 'dashboard:%' THEN 'dashboard:' || p_name WHEN actor LIKE 'token:%' THEN 'token:erased' ELSE actor END
  WHERE customer_id = p_customer;
  -- What the person did elsewhere.
  UPDATE audit_log SET from_address = NULL, actor = 'dashboard:' || p_name WHERE actor = ANY (actors);
  PERFORM set_config('tollgate.erasing', 'off', true);
END $$;
