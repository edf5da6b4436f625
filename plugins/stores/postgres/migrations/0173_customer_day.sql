-- Up Migration
-- What key_hour holds of requests that were let in, by customer, day and product: three months of a customer with 10,000 keys are a quarter of
-- a million hours there. Kept 92 days as well. No foreign keys: a row must never be refused.

CREATE TABLE customer_day (
  customer_id uuid NOT NULL,
  -- In the quota time zone.
  day date NOT NULL,
  product_id text NOT NULL,
  admitted bigint NOT NULL DEFAULT 0,
  -- As in key_hour: null where no service told.
  succeeded bigint,
  rejected bigint,
  failed bigint,
  abandoned bigint,
  took bigint[],
  PRIMARY KEY (customer_id, day, product_id)
) WITH (fillfactor = 80);
CREATE INDEX customer_day_day_idx ON customer_day (day);

-- Counts by place, added up; one that is shorter, or null, adds nothing at the places that it lacks.
CREATE FUNCTION add_counts(one bigint[], other bigint[]) RETURNS bigint[] LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN one IS NULL THEN other WHEN other IS NULL THEN one ELSE ARRAY(
    SELECT COALESCE(before, 0) + COALESCE(more, 0) FROM unnest(one, other) WITH ORDINALITY AS each (before, more, place) ORDER BY place
  ) END
$$;
CREATE AGGREGATE sum_counts(bigint[]) (SFUNC = add_counts, STYPE = bigint[]);

INSERT INTO customer_day
SELECT customer_id, day, product_id, sum(admitted), sum(succeeded), sum(rejected), sum(failed), sum(abandoned), sum_counts(took::bigint[])
FROM key_hour JOIN credential ON credential.id = credential_id
GROUP BY 1, 2, 3 HAVING sum(admitted) > 0 OR sum(succeeded) IS NOT NULL;

-- As before, and for the customer. Hours come first here and where nodes write them, and both are sorted, so that all lock in one order.
CREATE OR REPLACE FUNCTION note_answers(p_rows json) RETURNS void LANGUAGE sql AS $$
  INSERT INTO key_hour AS old (credential_id, day, hour, product_id, succeeded, rejected, failed, abandoned, took)
  SELECT "credentialId", day, hour, product, succeeded, rejected, failed, abandoned, took
  FROM json_to_recordset(p_rows) AS row("credentialId" uuid, day date, hour smallint, product text, succeeded bigint, rejected bigint,
    failed bigint, abandoned bigint, took integer[])
  ORDER BY 1, 2, 3, 4
  ON CONFLICT (credential_id, day, hour, product_id) DO UPDATE SET
    succeeded = COALESCE(old.succeeded, 0) + excluded.succeeded, rejected = COALESCE(old.rejected, 0) + excluded.rejected,
    failed = COALESCE(old.failed, 0) + excluded.failed, abandoned = COALESCE(old.abandoned, 0) + excluded.abandoned,
    took = add_counts(old.took::bigint[], excluded.took::bigint[])::integer[];
  INSERT INTO customer_day AS old (customer_id, day, product_id, succeeded, rejected, failed, abandoned, took)
  SELECT customer_id, day, product, sum(succeeded), sum(rejected), sum(failed), sum(abandoned), sum_counts(took::bigint[])
  FROM json_to_recordset(p_rows) AS row("credentialId" uuid, day date, product text, succeeded bigint, rejected bigint, failed bigint,
    abandoned bigint, took integer[]) JOIN credential ON credential.id = "credentialId"
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (customer_id, day, product_id) DO UPDATE SET
    succeeded = COALESCE(old.succeeded, 0) + excluded.succeeded, rejected = COALESCE(old.rejected, 0) + excluded.rejected,
    failed = COALESCE(old.failed, 0) + excluded.failed, abandoned = COALESCE(old.abandoned, 0) + excluded.abandoned,
    took = add_counts(old.took, excluded.took);
$$;

-- As before, and with the days.
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
