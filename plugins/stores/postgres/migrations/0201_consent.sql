-- What customers declare when they subscribe to a product that asks for it.

CREATE TABLE consent (
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  product_id text NOT NULL REFERENCES product,
  -- SHA-256 of the text: another text asks again.
  version bytea NOT NULL CHECK (octet_length(version) = 32),
  text text NOT NULL,
  -- By what way: `dashboard`, `operator`, `cli`, or `token:` and the token's name.
  given_by text NOT NULL,
  -- Who, where it was a person with an account. Null once the account is erased.
  user_id uuid REFERENCES auth_user ON DELETE SET NULL,
  given_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (customer_id, product_id, version)
);
COMMENT ON TABLE consent IS 'Texts of the catalogue that a customer agreed to, and who did. Rows are only added.';
CREATE INDEX consent_user_idx ON consent (user_id) WHERE user_id IS NOT NULL;

CREATE OR REPLACE FUNCTION erase_account(p_customer uuid) RETURNS text LANGUAGE plpgsql
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
  -- With their deliveries, rules, products, terms of limits and suspensions.
  DELETE FROM webhook WHERE customer_id = p_customer;
  DELETE FROM alert WHERE customer_id = p_customer;
  DELETE FROM credential WHERE customer_id = p_customer;
  DELETE FROM subscription WHERE customer_id = p_customer;
  DELETE FROM alert_preference WHERE customer_id = p_customer;
  DELETE FROM alert_mail WHERE customer_id = p_customer;
  DELETE FROM plan_request WHERE customer_id = p_customer;
  DELETE FROM consent WHERE customer_id = p_customer;
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
