-- API keys: the products that each opens, the addresses it may be used from, and what the seller has suspended. Every node is notified of
-- every change.

CREATE TABLE credential (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  -- SHA-256 of the API key. Nothing else of the secret is stored.
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  prefix text NOT NULL CHECK (prefix IN ('', 'tg_live', 'tg_test')),
  last_four text NOT NULL CHECK (length(last_four) IN (0, 4)),
  name text CHECK (length(name) BETWEEN 1 AND 100),
  mode text NOT NULL CHECK (mode IN ('live', 'test')),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'inactive', 'revoked')),
  -- The end that a person set for the key. A key that replaces it gets the same end.
  planned_expires_at timestamptz,
  -- When a rotated key stops working beside its replacement.
  overlap_ends_at timestamptz,
  -- The earlier of the two: from then on the key is refused.
  expires_at timestamptz GENERATED ALWAYS AS (LEAST(planned_expires_at, overlap_ends_at)) STORED,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  rotated_from uuid REFERENCES credential ON DELETE SET NULL,
  CHECK (prefix = '' OR prefix = 'tg_' || mode)
  -- Leaves room for last_used_at, which is written constantly and is in no index: the row then stays in its page, and no index is written.
) WITH (fillfactor = 80);
COMMENT ON TABLE credential IS 'The stored record of one API key.';
CREATE INDEX credential_rotated_from_idx ON credential (rotated_from) WHERE rotated_from IS NOT NULL;
CREATE INDEX credential_last_four_idx ON credential (last_four, id) WHERE last_four <> '';
-- Keys that have an end.
CREATE INDEX credential_expiry_idx ON credential (expires_at) WHERE expires_at IS NOT NULL AND state = 'active';
-- Lists of a customer's keys: all, by mode, by state, by name and by expiry. A page reads only the rows that it shows.
CREATE INDEX credential_customer_created_idx ON credential (customer_id, created_at DESC, id DESC);
CREATE INDEX credential_mode_order_idx ON credential (customer_id, mode, created_at DESC, id DESC);
CREATE INDEX credential_state_order_idx ON credential (customer_id, state, created_at DESC, id DESC);
-- Keys without a name come last, and so do keys that never expire.
CREATE INDEX credential_name_order_idx
  ON credential (customer_id, (CASE WHEN name IS NULL THEN '1' ELSE '0' || lower(name) END) COLLATE "C", id);
CREATE INDEX credential_expiry_order_idx ON credential (customer_id, (COALESCE(expires_at, 'infinity')), id);

CREATE FUNCTION keep_credential_final() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF OLD.state = 'revoked' AND NEW.state <> 'revoked' THEN
    RAISE EXCEPTION 'a revoked key cannot be used again' USING ERRCODE = 'check_violation', CONSTRAINT = 'credential_revoked_is_final';
  END IF;
  IF NEW.hash <> OLD.hash OR NEW.customer_id <> OLD.customer_id OR NEW.mode <> OLD.mode THEN
    RAISE EXCEPTION 'hash, customer and mode of a key never change' USING ERRCODE = 'check_violation', CONSTRAINT = 'credential_identity_is_fixed';
  END IF;
  RETURN NEW;
END $$;
COMMENT ON FUNCTION keep_credential_final IS 'A revoked key stays revoked, and a key''s hash, customer and mode never change.';
CREATE TRIGGER credential_is_final BEFORE UPDATE ON credential FOR EACH ROW EXECUTE FUNCTION keep_credential_final();

CREATE TABLE credential_product (
  credential_id uuid NOT NULL REFERENCES credential ON DELETE CASCADE,
  product_id text NOT NULL REFERENCES product,
  -- Copies of the key's columns, see keep_key_order.
  customer_id uuid,
  created_at timestamptz,
  PRIMARY KEY (credential_id, product_id)
);
COMMENT ON TABLE credential_product IS 'The products that a key is authorised for.';
CREATE INDEX credential_product_order_idx ON credential_product (customer_id, product_id, created_at DESC, credential_id DESC);

CREATE TABLE credential_tag (
  credential_id uuid NOT NULL REFERENCES credential ON DELETE CASCADE,
  tag text NOT NULL CHECK (length(tag) BETWEEN 1 AND 40),
  -- Copies of the key's columns, see keep_key_order.
  customer_id uuid,
  created_at timestamptz,
  PRIMARY KEY (credential_id, tag)
);
COMMENT ON TABLE credential_tag IS 'A customer''s own words for keys. They decide nothing, so nodes are not notified of them.';
CREATE INDEX credential_tag_order_idx ON credential_tag (customer_id, tag, created_at DESC, credential_id DESC);

CREATE FUNCTION keep_key_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT k.customer_id, k.created_at INTO NEW.customer_id, NEW.created_at FROM credential k WHERE k.id = NEW.credential_id;
  RETURN NEW;
END $$;
COMMENT ON FUNCTION keep_key_order IS 'Copies a key''s customer and age, which never change, to its products and tags: one index then '
  'lists keys by product or tag in order.';
-- An import supplies both columns, for thousands of keys that it has just made.
CREATE TRIGGER credential_product_order BEFORE INSERT ON credential_product FOR EACH ROW
  WHEN (NEW.customer_id IS NULL OR NEW.created_at IS NULL) EXECUTE FUNCTION keep_key_order();
CREATE TRIGGER credential_tag_order BEFORE INSERT ON credential_tag FOR EACH ROW
  WHEN (NEW.customer_id IS NULL OR NEW.created_at IS NULL) EXECUTE FUNCTION keep_key_order();

CREATE TABLE whitelist_rule (
  credential_id uuid NOT NULL REFERENCES credential ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('ip', 'domain')),
  -- Canonical text, as whitelist.ts writes it.
  rule text NOT NULL CHECK (length(rule) BETWEEN 1 AND 255),
  PRIMARY KEY (credential_id, rule)
);
COMMENT ON TABLE whitelist_rule IS 'Addresses, networks and domains that may use a key.';

CREATE TABLE suspension (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- The suspended subject: one of these three.
  customer_id uuid UNIQUE REFERENCES customer ON DELETE CASCADE,
  credential_id uuid UNIQUE REFERENCES credential ON DELETE CASCADE,
  subscription_id uuid UNIQUE REFERENCES subscription ON DELETE CASCADE,
  -- For the customer to read. Empty when none was given.
  reason text NOT NULL CHECK (length(reason) <= 500),
  since timestamptz NOT NULL DEFAULT now(),
  -- Only an operator lifts an operator's suspension. A suspension for an unpaid plan ends with a payment, or by an operator.
  cause text NOT NULL DEFAULT 'operator' CHECK (cause IN ('operator', 'payment')),
  CHECK (num_nonnulls(customer_id, credential_id, subscription_id) = 1)
);
COMMENT ON TABLE suspension IS 'Customers, subscriptions and keys that the seller has suspended. Kept apart from the customer''s own '
  'states, so that no action of the customer lifts it.';

-- Every node is notified of changes when they commit -------------------------------------------------------------------------------

CREATE FUNCTION told_hash(p_hash bytea) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT encode(substring(p_hash FROM 1 FOR 8), 'hex')
$$;
COMMENT ON FUNCTION told_hash IS 'The first 8 bytes of a key''s hash, from which every node knows each key without a query '
  '(docs/decisions/0040-known-key-hashes.md). They reveal nothing about a random key of 160 bits.';

CREATE FUNCTION tell_credential_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(
    'tollgate_changes',
    json_build_object('credential', COALESCE(NEW.id, OLD.id), 'at', now(), 'hash', told_hash(COALESCE(NEW.hash, OLD.hash)))::text
  );
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_credential_change IS 'Notifies every node that a key changed. "at" is the time of the transaction, by which a '
  'node''s confirmation names the change. One transaction reports each key once.';
CREATE TRIGGER credential_delete_tells AFTER DELETE ON credential FOR EACH ROW EXECUTE FUNCTION tell_credential_change();
-- Every column but last_used_at, which decides nothing and is written constantly.
CREATE TRIGGER credential_update_tells AFTER UPDATE ON credential FOR EACH ROW
  WHEN (
    (OLD.id, OLD.customer_id, OLD.hash, OLD.prefix, OLD.last_four, OLD.name, OLD.mode, OLD.state, OLD.expires_at, OLD.rotated_from)
    IS DISTINCT FROM
    (NEW.id, NEW.customer_id, NEW.hash, NEW.prefix, NEW.last_four, NEW.name, NEW.mode, NEW.state, NEW.expires_at, NEW.rotated_from)
  )
  EXECUTE FUNCTION tell_credential_change();

CREATE FUNCTION tell_new_credentials() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tollgate_changes', json_build_object('credential', id, 'at', now(), 'hash', told_hash(hash))::text) FROM made;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_new_credentials IS 'Notifies every node of new keys, once per statement: an import makes 1,000 at once.';
CREATE TRIGGER credential_insert_tells AFTER INSERT ON credential REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION tell_new_credentials();
CREATE TRIGGER credential_truncate_tells AFTER TRUNCATE ON credential EXECUTE FUNCTION tell_truncate();

CREATE FUNCTION tell_credential_part_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(
    'tollgate_changes',
    json_build_object('credential', credentials.credential_id, 'at', now(), 'hash', told_hash(credential.hash))::text
  )
  FROM (SELECT DISTINCT credential_id FROM changed) AS credentials
  -- OFFSET 0 makes this a look-up for each key: for the 1,000 keys of an import, the planner would otherwise read the whole table while it
  -- is small.
  LEFT JOIN LATERAL (SELECT hash, created_at, xmin FROM credential WHERE id = credentials.credential_id OFFSET 0) AS credential ON true
  -- A key that this transaction made has been reported already.
  WHERE (credential.xmin = pg_current_xact_id()::xid AND credential.created_at = now()) IS NOT TRUE;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_credential_part_change IS 'Notifies every node that a key''s products or rules changed, once per statement: a key '
  'may have 1,000 rules. The hash is null if the key itself was deleted.';
-- Each trigger names one set of rows `changed`, so an update has two triggers: one for the old rows and one for the new.
CREATE TRIGGER credential_product_tells AFTER INSERT ON credential_product REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER credential_product_delete_tells AFTER DELETE ON credential_product REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER credential_product_update_from_tells AFTER UPDATE ON credential_product REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER credential_product_update_to_tells AFTER UPDATE ON credential_product REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER credential_product_truncate_tells AFTER TRUNCATE ON credential_product EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER whitelist_rule_tells AFTER INSERT ON whitelist_rule REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER whitelist_rule_delete_tells AFTER DELETE ON whitelist_rule REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER whitelist_rule_update_from_tells AFTER UPDATE ON whitelist_rule REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER whitelist_rule_update_to_tells AFTER UPDATE ON whitelist_rule REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER whitelist_rule_truncate_tells AFTER TRUNCATE ON whitelist_rule EXECUTE FUNCTION tell_truncate();

CREATE FUNCTION tell_suspension_change() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  stopped suspension := COALESCE(NEW, OLD);
BEGIN
  IF stopped.credential_id IS NOT NULL THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('credential', id, 'at', now(), 'hash', told_hash(hash))::text)
      FROM credential WHERE id = stopped.credential_id;
  ELSIF stopped.subscription_id IS NOT NULL THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('subscription', id, 'customer', customer_id)::text)
      FROM subscription WHERE id = stopped.subscription_id;
  ELSE
    PERFORM pg_notify('tollgate_changes', json_build_object('customer', stopped.customer_id)::text);
  END IF;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_suspension_change IS 'Notifies every node of a suspension, as a change of the subject that it stops.';
CREATE TRIGGER suspension_tells AFTER INSERT OR UPDATE OR DELETE ON suspension FOR EACH ROW EXECUTE FUNCTION tell_suspension_change();
