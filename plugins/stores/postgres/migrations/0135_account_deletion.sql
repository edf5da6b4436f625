-- Up Migration
-- People delete their accounts: keys and sessions stop at once, and 14 days later what belongs to the person is erased. What is done with
-- each table is listed in test/dashboard/support/personal-data.ts; a table that a later migration adds is erased by a new version of the function below.

CREATE TABLE account_deletion (
  customer_id uuid PRIMARY KEY REFERENCES customer ON DELETE CASCADE,
  -- Null once it is erased.
  user_id uuid REFERENCES auth_user ON DELETE SET NULL,
  asked_at timestamptz NOT NULL DEFAULT now(),
  -- What was stopped by it, and runs again when the person comes back.
  keys uuid[] NOT NULL,
  subscriptions uuid[] NOT NULL,
  erased_at timestamptz
);
CREATE INDEX account_deletion_waiting_idx ON account_deletion (asked_at) WHERE erased_at IS NULL;

-- Lines of the audit log stay as they are but for this: of a customer who is erased, whose they were is taken out. A setting that lasts as
-- long as the function's transaction says so; who may not update the table gains nothing by it.
CREATE OR REPLACE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_LEVEL = 'STATEMENT' THEN RETURN NULL; END IF;
  IF TG_OP = 'UPDATE' AND TG_LEVEL = 'STATEMENT' AND current_setting('tollgate.erasing', true) = 'on' THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'the audit log is only ever appended to' USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_log_is_append_only';
END $$;
CREATE TRIGGER audit_log_keeps_what_was_done BEFORE UPDATE ON audit_log FOR EACH ROW
  WHEN (
    (OLD.id, OLD.at, OLD.action, OLD.subject_kind, OLD.subject_id, OLD.customer_id)
    IS DISTINCT FROM (NEW.id, NEW.at, NEW.action, NEW.subject_kind, NEW.subject_id, NEW.customer_id)
  )
  EXECUTE FUNCTION refuse_audit_change();

-- Takes a person out of the audit log: the address, where it came from, and everything that was typed.
CREATE FUNCTION erase_from_audit_log(p_customer uuid, p_address text, p_name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM set_config('tollgate.erasing', 'on', true);
  UPDATE audit_log SET
    details = '{}',
    from_address = CASE WHEN actor ~ '^(dashboard|token):' THEN NULL ELSE from_address END,
    actor = CASE WHEN actor LIKE 'dashboard:%' THEN 'dashboard:' || p_name WHEN actor LIKE 'token:%' THEN 'token:erased' ELSE actor END
  WHERE customer_id = p_customer;
  -- What the person did elsewhere.
  UPDATE audit_log SET from_address = NULL, actor = 'dashboard:' || p_name
  WHERE actor IN ('dashboard:' || p_address, 'dashboard:' || lower(p_address));
  PERFORM set_config('tollgate.erasing', 'off', true);
END $$;
REVOKE ALL ON FUNCTION erase_from_audit_log(uuid, text, text) FROM PUBLIC;

-- Erases what test/dashboard/support/personal-data.ts says, once the 14 days are over; another time it does nothing. Whoever has a session has come
-- back, and whoever became an operator is kept too.
-- outcome: erased; returned (a session is there); waiting (not asked for, not due, or done already).
CREATE FUNCTION erase_account(p_customer uuid) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
  person uuid;
  address text;
  name text := 'deleted-' || p_customer || '@deleted.invalid';
BEGIN
  SELECT user_id INTO person FROM account_deletion
    WHERE customer_id = p_customer AND erased_at IS NULL AND asked_at <= now() - interval '14 days' FOR UPDATE;
  IF NOT FOUND THEN RETURN 'waiting'; END IF;
  IF EXISTS (SELECT FROM auth_session WHERE user_id = person AND expires_at > now())
    OR EXISTS (SELECT FROM operator WHERE user_id = person) THEN RETURN 'returned'; END IF;
  SELECT email INTO address FROM customer WHERE id = p_customer FOR UPDATE;

  DELETE FROM decision WHERE customer_id = p_customer;
  DELETE FROM denial_count WHERE credential_id IN (SELECT id FROM credential WHERE customer_id = p_customer);
  DELETE FROM key_hour WHERE credential_id IN (SELECT id FROM credential WHERE customer_id = p_customer);
  DELETE FROM change_confirmation WHERE credential_id IN (SELECT id FROM credential WHERE customer_id = p_customer);
  DELETE FROM outbox_mail WHERE lower(recipient) = lower(address);
  -- With their deliveries, rules, products, terms of limits and suspensions.
  DELETE FROM webhook WHERE customer_id = p_customer;
  DELETE FROM alert WHERE customer_id = p_customer;
  DELETE FROM credential WHERE customer_id = p_customer;
  DELETE FROM subscription WHERE customer_id = p_customer;
  DELETE FROM alert_preference WHERE customer_id = p_customer;
  DELETE FROM alert_mail WHERE customer_id = p_customer;
  DELETE FROM plan_request WHERE customer_id = p_customer;
  DELETE FROM admin_token WHERE customer_id = p_customer;
  DELETE FROM submission WHERE customer_id = p_customer;
  DELETE FROM customer_limit WHERE customer_id = p_customer;
  DELETE FROM customer_note WHERE customer_id = p_customer;
  DELETE FROM suspension WHERE customer_id = p_customer;
  -- What the seller was told names the account by its number as well.
  UPDATE webhook_delivery SET data = data || jsonb_build_object('customer', name) WHERE data ->> 'customer_id' = p_customer::text;
  DELETE FROM auth_verification WHERE position(person::text IN value) > 0 OR position(lower(address) IN lower(identifier || value)) > 0;
  DELETE FROM auth_user WHERE id = person;
  UPDATE customer SET email = name WHERE id = p_customer;
  UPDATE account_deletion SET erased_at = now(), user_id = NULL, keys = '{}', subscriptions = '{}' WHERE customer_id = p_customer;
  PERFORM erase_from_audit_log(p_customer, address, name);
  INSERT INTO audit_log (actor, action, subject_kind, subject_id) VALUES ('system', 'account.erase', 'customer', p_customer::text);
  RETURN 'erased';
END $$;
REVOKE ALL ON FUNCTION erase_account(uuid) FROM PUBLIC;
