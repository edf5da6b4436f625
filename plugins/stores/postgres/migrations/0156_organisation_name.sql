-- Up Migration
-- What an organisation calls itself; null: it goes by its e-mail address.
ALTER TABLE customer ADD COLUMN display_name text CHECK (char_length(display_name) BETWEEN 1 AND 100);

-- As before, and the name goes with the account.
CREATE OR REPLACE FUNCTION erase_account(p_customer uuid) RETURNS text LANGUAGE plpgsql AS $$
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
  UPDATE customer SET email = name, display_name = NULL WHERE id = p_customer;
  UPDATE account_deletion SET erased_at = now(), user_id = NULL, keys = '{}', subscriptions = '{}' WHERE customer_id = p_customer;
  PERFORM erase_from_audit_log(p_customer, address, name);
  INSERT INTO audit_log (actor, action, subject_kind, subject_id) VALUES ('system', 'account.erase', 'customer', p_customer::text);
  RETURN 'erased';
END $$;
