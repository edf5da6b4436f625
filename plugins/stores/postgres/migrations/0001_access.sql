-- Up Migration
-- Customers, products, plans, keys, rules, subscriptions; what was done (audit_log) and what was decided (decision, denial_count).

CREATE TABLE customer (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  email text NOT NULL CHECK (email ~ '^[^@\s]+@[^@\s]+$' AND length(email) <= 254),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX customer_email_key ON customer (lower(email));

-- Filled from the catalogue at every start; see seed-catalogue.ts.
CREATE TABLE product (
  id text PRIMARY KEY CHECK (id ~ '^[a-z][a-z0-9-]*$'),
  title text NOT NULL,
  description text NOT NULL,
  -- Requests a day and a month; null where none are published: such a product cannot be subscribed to.
  daily integer CHECK (daily >= 0),
  monthly integer CHECK (monthly >= 0),
  CHECK ((daily IS NULL) = (monthly IS NULL))
);

CREATE TABLE plan (
  product_id text NOT NULL REFERENCES product,
  name text NOT NULL CHECK (name <> ''),
  daily integer NOT NULL CHECK (daily >= 0),
  monthly integer NOT NULL CHECK (monthly >= 0),
  price_inr numeric(12, 2) NOT NULL CHECK (price_inr >= 0),
  -- False once the catalogue no longer offers it: subscriptions on it keep its limits.
  active boolean NOT NULL DEFAULT true,
  PRIMARY KEY (product_id, name)
);

CREATE TABLE subscription (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  product_id text NOT NULL REFERENCES product,
  -- Null: the product's base limits.
  plan_name text,
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'cancelled')),
  -- Limits that an operator set for this subscription alone.
  daily_override integer CHECK (daily_override >= 0),
  monthly_override integer CHECK (monthly_override >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (customer_id, product_id),
  FOREIGN KEY (product_id, plan_name) REFERENCES plan (product_id, name)
);

CREATE TABLE credential (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  -- SHA-256 of the API key: all that is kept of the secret.
  hash bytea NOT NULL UNIQUE CHECK (octet_length(hash) = 32),
  prefix text NOT NULL CHECK (prefix IN ('', 'tg_live', 'tg_test')),
  last_four text NOT NULL CHECK (length(last_four) IN (0, 4)),
  name text CHECK (length(name) BETWEEN 1 AND 100),
  mode text NOT NULL CHECK (mode IN ('live', 'test')),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'inactive', 'revoked')),
  expires_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  rotated_from uuid REFERENCES credential ON DELETE SET NULL,
  CHECK (prefix = '' OR prefix = 'tg_' || mode)
);
CREATE INDEX credential_customer_idx ON credential (customer_id);
CREATE INDEX credential_rotated_from_idx ON credential (rotated_from) WHERE rotated_from IS NOT NULL;

-- The products that a key is authorised for.
CREATE TABLE credential_product (
  credential_id uuid NOT NULL REFERENCES credential ON DELETE CASCADE,
  product_id text NOT NULL REFERENCES product,
  PRIMARY KEY (credential_id, product_id)
);

CREATE TABLE whitelist_rule (
  credential_id uuid NOT NULL REFERENCES credential ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('ip', 'domain')),
  -- Canonical text, as whitelist.ts writes it.
  rule text NOT NULL CHECK (length(rule) BETWEEN 1 AND 255),
  PRIMARY KEY (credential_id, rule)
);

-- Who changed what. Only ever appended to; never holds a key.
CREATE TABLE audit_log (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT now(),
  actor text NOT NULL CHECK (actor <> ''),
  action text NOT NULL CHECK (action <> ''),
  subject_kind text NOT NULL CHECK (subject_kind IN ('customer', 'credential', 'subscription', 'product', 'plan')),
  subject_id text NOT NULL,
  details jsonb NOT NULL DEFAULT '{}'
);
CREATE INDEX audit_log_subject_idx ON audit_log (subject_id, id);

-- What the access layer decided on each request, for `explain`. Kept 7 days. No foreign keys: a row must never be refused.
CREATE TABLE decision (
  request_id text NOT NULL,
  at timestamptz NOT NULL,
  outcome text NOT NULL,
  products text[] NOT NULL,
  key_place text,
  masked_key text,
  credential_id uuid,
  customer_id uuid,
  subscription_id uuid,
  product text,
  caller_address text,
  origin_host text,
  matched_rule text,
  quota jsonb
);
CREATE INDEX decision_request_id_idx ON decision (request_id);
CREATE INDEX decision_at_idx ON decision (at);

-- How often each key was refused; credential_id is null for requests whose key is missing or unknown.
CREATE TABLE denial_count (
  credential_id uuid,
  product_id text NOT NULL,
  -- In the quota time zone.
  day date NOT NULL,
  code text NOT NULL,
  count bigint NOT NULL CHECK (count > 0),
  UNIQUE NULLS NOT DISTINCT (credential_id, product_id, day, code)
);

-- Rules that no program may break -----------------------------------------------------------------------------------------------

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
CREATE TRIGGER credential_is_final BEFORE UPDATE ON credential FOR EACH ROW EXECUTE FUNCTION keep_credential_final();

CREATE FUNCTION check_subscribable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM product WHERE id = NEW.product_id AND daily IS NULL) THEN
    RAISE EXCEPTION 'the product has no limits and cannot be subscribed to'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'subscription_product_has_limits';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER subscription_is_possible BEFORE INSERT OR UPDATE OF product_id ON subscription
  FOR EACH ROW EXECUTE FUNCTION check_subscribable();

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is only ever appended to' USING ERRCODE = 'check_violation', CONSTRAINT = 'audit_log_is_append_only';
END $$;
CREATE TRIGGER audit_log_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();

-- Changes are told to every node when they commit ---------------------------------------------------------------------------------

CREATE FUNCTION tell_credential_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tollgate_changes', json_build_object('credential', COALESCE(NEW.id, OLD.id))::text);
  RETURN NULL;
END $$;
CREATE TRIGGER credential_tells AFTER INSERT OR DELETE ON credential FOR EACH ROW EXECUTE FUNCTION tell_credential_change();
-- Every column but last_used_at, which decides nothing and is written all the time.
CREATE TRIGGER credential_update_tells AFTER UPDATE ON credential FOR EACH ROW
  WHEN (
    (OLD.id, OLD.customer_id, OLD.hash, OLD.prefix, OLD.last_four, OLD.name, OLD.mode, OLD.state, OLD.expires_at, OLD.rotated_from)
    IS DISTINCT FROM
    (NEW.id, NEW.customer_id, NEW.hash, NEW.prefix, NEW.last_four, NEW.name, NEW.mode, NEW.state, NEW.expires_at, NEW.rotated_from)
  )
  EXECUTE FUNCTION tell_credential_change();

CREATE FUNCTION tell_credential_part_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('credential', OLD.credential_id)::text);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('credential', NEW.credential_id)::text);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER credential_product_tells AFTER INSERT OR UPDATE OR DELETE ON credential_product
  FOR EACH ROW EXECUTE FUNCTION tell_credential_part_change();
CREATE TRIGGER whitelist_rule_tells AFTER INSERT OR UPDATE OR DELETE ON whitelist_rule
  FOR EACH ROW EXECUTE FUNCTION tell_credential_part_change();

CREATE FUNCTION tell_subscription_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('subscription', OLD.id, 'customer', OLD.customer_id)::text);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('subscription', NEW.id, 'customer', NEW.customer_id)::text);
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER subscription_tells AFTER INSERT OR UPDATE OR DELETE ON subscription
  FOR EACH ROW EXECUTE FUNCTION tell_subscription_change();

CREATE FUNCTION tell_customer_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tollgate_changes', json_build_object('customer', OLD.id)::text);
  RETURN NULL;
END $$;
CREATE TRIGGER customer_tells AFTER UPDATE OR DELETE ON customer FOR EACH ROW EXECUTE FUNCTION tell_customer_change();

CREATE FUNCTION tell_product_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tollgate_changes', json_build_object('product', COALESCE(NEW.id, OLD.id))::text);
  RETURN NULL;
END $$;
CREATE TRIGGER product_tells AFTER INSERT OR UPDATE OR DELETE ON product FOR EACH ROW EXECUTE FUNCTION tell_product_change();

CREATE FUNCTION tell_plan_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(
    'tollgate_changes',
    json_build_object('plan', COALESCE(NEW.name, OLD.name), 'product', COALESCE(NEW.product_id, OLD.product_id))::text
  );
  RETURN NULL;
END $$;
CREATE TRIGGER plan_tells AFTER INSERT OR UPDATE OR DELETE ON plan FOR EACH ROW EXECUTE FUNCTION tell_plan_change();

CREATE FUNCTION tell_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tollgate_changes', '{"everything":true}');
  RETURN NULL;
END $$;
CREATE TRIGGER customer_truncate_tells AFTER TRUNCATE ON customer EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER product_truncate_tells AFTER TRUNCATE ON product EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER plan_truncate_tells AFTER TRUNCATE ON plan EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER subscription_truncate_tells AFTER TRUNCATE ON subscription EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER credential_truncate_tells AFTER TRUNCATE ON credential EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER credential_product_truncate_tells AFTER TRUNCATE ON credential_product EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER whitelist_rule_truncate_tells AFTER TRUNCATE ON whitelist_rule EXECUTE FUNCTION tell_truncate();
