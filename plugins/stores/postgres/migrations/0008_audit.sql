-- The audit log, which only grows, and the deletion of accounts, which removes people from it.

CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL CHECK (actor <> ''),
  action text NOT NULL CHECK (action <> ''),
  subject_kind text NOT NULL CHECK (subject_kind ~ '^[a-z][a-z_]*$'),
  subject_id text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}',
  -- Null for changes that did not come over a network.
  from_address text,
  -- The customer that the line belongs to. Null if it belongs to none.
  customer_id uuid,
  -- The name by which people know a key or subscription. It never changes, so a page need not look it up.
  label text
);
COMMENT ON TABLE audit_log IS 'Changes and who made them. Lines are only added, and never hold a key. Old lines may be deleted '
  '(docs/operate/backup.md).';
CREATE INDEX audit_log_subject_idx ON audit_log (subject_id, id);
CREATE INDEX audit_log_customer_idx ON audit_log (customer_id, id) WHERE customer_id IS NOT NULL;
CREATE INDEX audit_log_actor_idx ON audit_log (actor, id);
CREATE INDEX audit_log_action_idx ON audit_log (action, id);
-- Lines of one kind are read page by page, however many other lines lie between them.
CREATE INDEX audit_log_kind_idx ON audit_log (customer_id, split_part(action, '.', 1), id);

CREATE FUNCTION audit_customer_of(p_kind text, p_id text) RETURNS uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_id !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN RETURN NULL; END IF;
  RETURN CASE p_kind
    WHEN 'customer' THEN p_id::uuid
    WHEN 'credential' THEN (SELECT customer_id FROM credential WHERE id = p_id::uuid)
    WHEN 'subscription' THEN (SELECT customer_id FROM subscription WHERE id = p_id::uuid)
  END;
END $$;
COMMENT ON FUNCTION audit_customer_of IS 'The customer that a line''s subject belongs to.';

CREATE FUNCTION fill_audit_customer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.customer_id := audit_customer_of(NEW.subject_kind, NEW.subject_id);
  RETURN NEW;
END $$;
COMMENT ON FUNCTION fill_audit_customer IS 'Fills in the customer that a line belongs to.';
CREATE TRIGGER audit_log_knows_customer BEFORE INSERT ON audit_log FOR EACH ROW
  WHEN (NEW.customer_id IS NULL) EXECUTE FUNCTION fill_audit_customer();

CREATE FUNCTION fill_audit_label() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.subject_id ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN
    NEW.label := CASE NEW.subject_kind
      WHEN 'credential' THEN (SELECT prefix || '…' || last_four FROM credential WHERE id = NEW.subject_id::uuid)
      WHEN 'subscription' THEN (SELECT product_id FROM subscription WHERE id = NEW.subject_id::uuid)
    END;
  END IF;
  RETURN NEW;
END $$;
COMMENT ON FUNCTION fill_audit_label IS 'Fills in the name by which people know the line''s key or subscription.';
CREATE TRIGGER audit_log_knows_label BEFORE INSERT ON audit_log FOR EACH ROW
  WHEN (NEW.label IS NULL AND NEW.subject_kind <> 'customer') EXECUTE FUNCTION fill_audit_label();

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'DELETE' AND TG_LEVEL = 'STATEMENT' THEN RETURN NULL; END IF;
  IF TG_OP = 'UPDATE' AND TG_LEVEL = 'STATEMENT' AND current_setting('tollgate.erasing', true) = 'on' THEN RETURN NULL; END IF;
  RAISE EXCEPTION 'the audit log is only ever appended to' USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_log_is_append_only';
END $$;
COMMENT ON FUNCTION refuse_audit_change IS 'Refuses changes of the log. Two changes are left to the row triggers, which see what the '
  'statement trigger cannot: deleting old lines, and removing an erased person from lines, which lasts as long as the setting '
  'tollgate.erasing.';
CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
-- Nobody can delete a line that is younger than 90 days.
CREATE TRIGGER audit_log_keeps_young_lines BEFORE DELETE ON audit_log
  FOR EACH ROW WHEN (OLD.at > now() - interval '90 days') EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_log_keeps_what_was_done BEFORE UPDATE ON audit_log FOR EACH ROW
  WHEN (
    (OLD.id, OLD.at, OLD.action, OLD.subject_kind, OLD.subject_id, OLD.customer_id)
    IS DISTINCT FROM (NEW.id, NEW.at, NEW.action, NEW.subject_kind, NEW.subject_id, NEW.customer_id)
  )
  EXECUTE FUNCTION refuse_audit_change();

CREATE FUNCTION audit_forget(p_days integer, p_most integer) RETURNS integer LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
COMMENT ON FUNCTION audit_forget IS 'Deletes up to p_most of the oldest lines that are older than p_days, by their numbers: they were '
  'written in that order, so no index on the time is needed. Only one process deletes at a time; another gets 0.';

-- Deleting accounts: keys and sessions stop at once, and 14 days later the person is erased. test/dashboard/support/personal-data.ts lists
-- what is done with each table; a later migration that adds a table also replaces the functions below -------------------------------

CREATE TABLE account_deletion (
  customer_id uuid PRIMARY KEY REFERENCES customer ON DELETE CASCADE,
  -- Null once it is erased.
  user_id uuid REFERENCES auth_user ON DELETE SET NULL,
  asked_at timestamptz NOT NULL DEFAULT now(),
  -- Keys and subscriptions that the deletion stopped. They work again when the person comes back.
  keys uuid[] NOT NULL,
  subscriptions uuid[] NOT NULL,
  erased_at timestamptz
);
COMMENT ON TABLE account_deletion IS 'Organisations whose only owner asked for deletion.';
CREATE INDEX account_deletion_waiting_idx ON account_deletion (asked_at) WHERE erased_at IS NULL;

CREATE TABLE person_deletion (
  user_id uuid PRIMARY KEY REFERENCES auth_user ON DELETE CASCADE,
  asked_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE person_deletion IS 'People in no organisation who asked for deletion: there is no customer to stop.';
CREATE INDEX person_deletion_asked_idx ON person_deletion (asked_at);

CREATE FUNCTION erase_from_audit_log(p_customer uuid, p_address text, p_name text) RETURNS void LANGUAGE plpgsql AS $$
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
  -- The person's actions elsewhere.
  UPDATE audit_log SET from_address = NULL, actor = 'dashboard:' || p_name WHERE actor = ANY (actors);
  PERFORM set_config('tollgate.erasing', 'off', true);
END $$;
COMMENT ON FUNCTION erase_from_audit_log IS 'Removes a person from the audit log: every address that the person has had, the network '
  'addresses of changes, and everything that was typed.';
REVOKE ALL ON FUNCTION erase_from_audit_log(uuid, text, text) FROM PUBLIC;

CREATE FUNCTION erase_account(p_customer uuid) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
  DELETE FROM customer_day WHERE customer_id = p_customer;
  DELETE FROM change_confirmation WHERE credential_id IN (SELECT id FROM credential WHERE customer_id = p_customer);
  DELETE FROM outbox_mail WHERE lower(recipient) = lower(address);
  DELETE FROM status_subscription WHERE email = lower(address);
  -- The cascade deletes their deliveries, rules, products, terms of limits and suspensions.
  DELETE FROM webhook WHERE customer_id = p_customer;
  DELETE FROM alert WHERE customer_id = p_customer;
  DELETE FROM credential WHERE customer_id = p_customer;
  DELETE FROM subscription WHERE customer_id = p_customer;
  DELETE FROM alert_preference WHERE customer_id = p_customer;
  DELETE FROM outbox WHERE subject = p_customer OR subject IN (SELECT id FROM plan_request WHERE customer_id = p_customer);
  DELETE FROM plan_request WHERE customer_id = p_customer;
  DELETE FROM consent WHERE customer_id = p_customer;
  DELETE FROM admin_token WHERE customer_id = p_customer;
  DELETE FROM submission WHERE customer_id = p_customer;
  DELETE FROM customer_limit WHERE customer_id = p_customer;
  DELETE FROM customer_note WHERE customer_id = p_customer;
  DELETE FROM suspension WHERE customer_id = p_customer;
  -- Events for the seller name the account by its number as well.
  UPDATE webhook_delivery SET data = data || jsonb_build_object('customer', name) WHERE data ->> 'customer_id' = p_customer::text;
  DELETE FROM auth_verification WHERE position(person::text IN value) > 0 OR position(lower(address) IN lower(identifier || value)) > 0;
  DELETE FROM auth_user WHERE id = person;
  UPDATE customer SET email = name, display_name = NULL WHERE id = p_customer;
  UPDATE account_deletion SET erased_at = now(), user_id = NULL, keys = '{}', subscriptions = '{}' WHERE customer_id = p_customer;
  PERFORM erase_from_audit_log(p_customer, address, name);
  INSERT INTO audit_log (actor, action, subject_kind, subject_id) VALUES ('system', 'account.erase', 'customer', p_customer::text);
  RETURN 'erased';
END $$;
COMMENT ON FUNCTION erase_account IS 'Erases an account once its 14 days are over; before that it does nothing. A person who has a session '
  'has come back, and a person who became an operator is kept too. Outcomes: erased; returned (there is a session or an operator''s role); '
  'waiting (not requested, not due, or done already).';

CREATE FUNCTION erase_person(p_user uuid) RETURNS text LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  addresses text[];
  each text;
  name text := 'deleted-' || p_user || '@deleted.invalid';
BEGIN
  PERFORM FROM person_deletion WHERE user_id = p_user AND asked_at <= now() - interval '14 days' FOR UPDATE;
  IF NOT FOUND THEN RETURN 'waiting'; END IF;
  IF EXISTS (SELECT FROM auth_session WHERE user_id = p_user AND expires_at > now())
    OR EXISTS (SELECT FROM member WHERE user_id = p_user)
    OR EXISTS (SELECT FROM operator WHERE user_id = p_user) THEN RETURN 'returned'; END IF;
  WITH RECURSIVE known (address) AS (
    SELECT email FROM auth_user WHERE id = p_user
    UNION
    SELECT details ->> 'before' FROM audit_log JOIN known ON details ->> 'after' = known.address WHERE action = 'account.email_change'
  ) SELECT array_agg(address) INTO addresses FROM known;

  FOREACH each IN ARRAY addresses LOOP
    DELETE FROM outbox_mail WHERE lower(recipient) = lower(each);
    DELETE FROM status_subscription WHERE email = lower(each);
    DELETE FROM auth_verification WHERE position(lower(each) IN lower(identifier || value)) > 0;
    DELETE FROM invitation WHERE email = lower(each);
    PERFORM erase_from_audit_log(NULL, each, name);
  END LOOP;
  DELETE FROM auth_verification WHERE position(p_user::text IN value) > 0;
  DELETE FROM auth_user WHERE id = p_user;
  RETURN 'erased';
END $$;
COMMENT ON FUNCTION erase_person IS 'Erases a person once the 14 days are over; before that it does nothing. Organisations keep what was '
  'done in them, without the person, under the present address and earlier ones. Outcomes: as in erase_account; a membership counts as a '
  'return.';

-- cli/database-roles says who may call them.
REVOKE ALL ON FUNCTION audit_forget, erase_account, erase_person FROM PUBLIC;
