-- Up Migration
-- What customers see of their traffic: refusals, which nodes act on a change, alerts and the webhooks that carry them, their audit log.
-- Indexes are built in the migration's transaction: writers of the three tables wait for some seconds when those hold millions of rows.
-- The decision log tries again by itself, and so does usage that Redis counted.

-- Refusals of one customer, newest first. Requests without a known key are nobody's: a flood of them costs this index nothing.
CREATE INDEX decision_refusal_idx ON decision (customer_id, at, request_id) WHERE outcome <> 'admitted' AND customer_id IS NOT NULL;

-- Whose line it is; null for products and plans. Filled by a trigger, so that older programs write it too.
ALTER TABLE audit_log ADD COLUMN customer_id uuid;

CREATE FUNCTION audit_customer_of(p_kind text, p_id text) RETURNS uuid LANGUAGE plpgsql STABLE AS $$
BEGIN
  IF p_id !~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' THEN RETURN NULL; END IF;
  RETURN CASE p_kind
    WHEN 'customer' THEN p_id::uuid
    WHEN 'credential' THEN (SELECT customer_id FROM credential WHERE id = p_id::uuid)
    WHEN 'subscription' THEN (SELECT customer_id FROM subscription WHERE id = p_id::uuid)
  END;
END $$;

CREATE FUNCTION fill_audit_customer() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.customer_id := COALESCE(NEW.customer_id, audit_customer_of(NEW.subject_kind, NEW.subject_id));
  RETURN NEW;
END $$;
CREATE TRIGGER audit_log_knows_customer BEFORE INSERT ON audit_log FOR EACH ROW EXECUTE FUNCTION fill_audit_customer();

-- The one time that lines are completed; the log refuses every other change.
ALTER TABLE audit_log DISABLE TRIGGER audit_log_is_append_only;
UPDATE audit_log SET customer_id = audit_customer_of(subject_kind, subject_id);
ALTER TABLE audit_log ENABLE TRIGGER audit_log_is_append_only;
CREATE INDEX audit_log_customer_idx ON audit_log (customer_id, id) WHERE customer_id IS NOT NULL;

-- Gateway nodes ---------------------------------------------------------------------------------------------------------------------

-- One row for each plugin server process, written by itself every 2 s. Gone a day after its last sign of life.
CREATE TABLE gateway_node (
  id uuid PRIMARY KEY,
  name text NOT NULL,
  started_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  -- False: the node has lost its feed of changes and reads the database on every request.
  feed_healthy boolean NOT NULL,
  -- The node acts on every change that was committed before this moment; null until its feed was first connected. Accurate to the time
  -- that a statement may take on its way.
  current_until timestamptz
);

-- Which node has dropped what it knew of a key, after which change. No foreign keys: a confirmation must never be refused.
CREATE TABLE change_confirmation (
  credential_id uuid NOT NULL,
  node_id uuid NOT NULL,
  -- now() of the transaction that changed the key, as the notification and the audit log have it.
  changed_at timestamptz NOT NULL,
  confirmed_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (credential_id, node_id)
);

-- As in migration 0001, and the time of the change's transaction with it: a confirmation then tells which change it confirms. Programs
-- that do not know the member ignore it. One transaction still tells each key once, since its now() stays the same.
CREATE OR REPLACE FUNCTION tell_credential_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tollgate_changes', json_build_object('credential', COALESCE(NEW.id, OLD.id), 'at', now())::text);
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION tell_credential_part_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP <> 'INSERT' THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('credential', OLD.credential_id, 'at', now())::text);
  END IF;
  IF TG_OP <> 'DELETE' THEN
    PERFORM pg_notify('tollgate_changes', json_build_object('credential', NEW.credential_id, 'at', now())::text);
  END IF;
  RETURN NULL;
END $$;

-- Alerts ----------------------------------------------------------------------------------------------------------------------------

-- Who used what today: only they can reach a share of a limit.
CREATE INDEX usage_day_idx ON usage (day);
-- Keys that will end by themselves.
CREATE INDEX credential_expiry_idx ON credential (expires_at) WHERE expires_at IS NOT NULL AND state = 'active';

CREATE TABLE alert (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Order of their making, for pages.
  number bigint GENERATED ALWAYS AS IDENTITY,
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  at timestamptz NOT NULL DEFAULT now(),
  kind text NOT NULL CHECK (kind IN ('quota_daily', 'quota_monthly', 'key_expiry')),
  -- What it is about: a subscription's window, or a key.
  subscription_id uuid REFERENCES subscription ON DELETE CASCADE,
  credential_id uuid REFERENCES credential ON DELETE CASCADE,
  -- First day of the day or month in the quota time zone; for a key the moment of its expiry, in UTC.
  period timestamp NOT NULL,
  -- Share of the limit that was reached, and the figures of that moment.
  percent integer CHECK (percent IN (50, 80, 100)),
  used bigint,
  quota_limit bigint,
  read_at timestamptz,
  CHECK ((kind = 'key_expiry') = (credential_id IS NOT NULL)),
  CHECK ((kind = 'key_expiry') = (subscription_id IS NULL)),
  CHECK ((kind = 'key_expiry') = (percent IS NULL)),
  -- Whoever evaluates, and however often: each is told once.
  CONSTRAINT alert_once_a_window UNIQUE (subscription_id, kind, period, percent),
  CONSTRAINT alert_once_an_expiry UNIQUE (credential_id, period)
);
CREATE INDEX alert_customer_idx ON alert (customer_id, number);
CREATE INDEX alert_unread_idx ON alert (customer_id) WHERE read_at IS NULL;

-- Webhooks --------------------------------------------------------------------------------------------------------------------------

CREATE TABLE webhook (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
  -- In the clear: it is the key of an HMAC, which both sides must have to make the same signature; a hash of it could not sign. It opens
  -- nothing of ours: whoever has it can only pretend to be us towards this one receiver.
  secret text NOT NULL CHECK (length(secret) >= 32),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused')),
  created_at timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX webhook_customer_idx ON webhook (customer_id);

-- The log of deliveries, and the queue of those that wait. Kept 30 days. Holds no body: it follows from the alert.
CREATE TABLE webhook_delivery (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  number bigint GENERATED ALWAYS AS IDENTITY,
  webhook_id uuid NOT NULL REFERENCES webhook ON DELETE CASCADE,
  -- Null for a test.
  alert_id uuid REFERENCES alert ON DELETE CASCADE,
  -- The same for every delivery of one event, repeats and replays included.
  event_id uuid NOT NULL,
  event text NOT NULL CHECK (event IN ('quota.daily', 'quota.monthly', 'key.expiry', 'test')),
  -- When it happened.
  event_at timestamptz NOT NULL,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  last_status integer,
  last_error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  -- While an attempt runs: when it counts as lost with its sender.
  next_attempt_at timestamptz DEFAULT now(),
  ended_at timestamptz,
  CHECK ((state = 'waiting') = (next_attempt_at IS NOT NULL)),
  CHECK ((state = 'waiting') = (ended_at IS NULL)),
  CHECK ((event = 'test') = (alert_id IS NULL))
);
CREATE INDEX webhook_delivery_due_idx ON webhook_delivery (next_attempt_at) WHERE state = 'waiting';
CREATE INDEX webhook_delivery_log_idx ON webhook_delivery (webhook_id, number);
CREATE INDEX webhook_delivery_created_idx ON webhook_delivery (created_at);
CREATE INDEX webhook_delivery_alert_idx ON webhook_delivery (alert_id) WHERE alert_id IS NOT NULL;
