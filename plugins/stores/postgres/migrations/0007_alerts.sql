-- Alerts, the webhooks and mails that carry them, and the webhooks of the seller.

CREATE TABLE alert (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- The order of the alerts, for pages.
  number bigint GENERATED ALWAYS AS IDENTITY,
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  at timestamptz NOT NULL DEFAULT now(),
  kind text NOT NULL CHECK (kind IN ('quota_daily', 'quota_monthly', 'key_expiry')),
  -- The subject: a subscription's window, or a key.
  subscription_id uuid REFERENCES subscription ON DELETE CASCADE,
  credential_id uuid REFERENCES credential ON DELETE CASCADE,
  -- First day of the day or month in the quota time zone; for a key the time of its expiry, in UTC.
  period timestamp NOT NULL,
  -- Share of the limit that was reached, and the figures at that time.
  percent integer CHECK (percent BETWEEN 1 AND 100),
  used bigint,
  quota_limit bigint,
  read_at timestamptz,
  -- True while the alert waits to be mailed.
  is_mail_due boolean NOT NULL DEFAULT false,
  -- True: a share of what a price includes, not of the limit at which requests are refused.
  is_included boolean NOT NULL DEFAULT false,
  CHECK ((kind = 'key_expiry') = (credential_id IS NOT NULL)),
  CHECK ((kind = 'key_expiry') = (subscription_id IS NULL)),
  CHECK ((kind = 'key_expiry') = (percent IS NULL)),
  -- Each alert is made once, however many processes evaluate and however often, and once more when its limit was raised.
  CONSTRAINT alert_once_a_window UNIQUE (subscription_id, kind, period, percent, is_included, quota_limit),
  CONSTRAINT alert_once_an_expiry UNIQUE (credential_id, period)
);
COMMENT ON TABLE alert IS 'Alerts for customers: a share of a limit is reached, or a key is about to expire.';
CREATE INDEX alert_customer_idx ON alert (customer_id, number);
CREATE INDEX alert_unread_idx ON alert (customer_id) WHERE read_at IS NULL;
CREATE INDEX alert_mail_due_idx ON alert (customer_id) WHERE is_mail_due;

CREATE TABLE alert_preference (
  customer_id uuid PRIMARY KEY REFERENCES customer ON DELETE CASCADE,
  quota_daily boolean NOT NULL DEFAULT true,
  quota_monthly boolean NOT NULL DEFAULT true,
  key_expiry boolean NOT NULL DEFAULT true
);
COMMENT ON TABLE alert_preference IS 'Alerts that a customer receives by mail. Without a row: all of them.';

CREATE TABLE alert_threshold (
  subscription_id uuid PRIMARY KEY REFERENCES subscription ON DELETE CASCADE,
  percents integer[] NOT NULL CHECK (cardinality(percents) BETWEEN 1 AND 5 AND 1 <= ALL (percents) AND 100 >= ALL (percents))
);
COMMENT ON TABLE alert_threshold IS 'Percents of a subscription''s limits at which the customer is alerted, in place of the default ones.';

CREATE TABLE webhook (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Null: a webhook of the seller.
  customer_id uuid REFERENCES customer ON DELETE CASCADE,
  url text NOT NULL CHECK (length(url) BETWEEN 1 AND 2000),
  -- Not encrypted: it is the key of an HMAC, and both sides need it to compute the same signature. It opens nothing here: a thief could
  -- only pretend to be Tollgate towards this one receiver.
  secret text NOT NULL CHECK (length(secret) >= 32),
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused')),
  -- Events that a webhook of the seller receives. Null: all.
  events text[],
  created_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT webhook_choice_is_the_sellers CHECK (customer_id IS NULL OR events IS NULL)
);
COMMENT ON TABLE webhook IS 'URLs at which a customer, or the seller, receives events.';
CREATE INDEX webhook_customer_idx ON webhook (customer_id);
CREATE INDEX webhook_seller_idx ON webhook (id) WHERE customer_id IS NULL;

CREATE TABLE outbox (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text NOT NULL CHECK (kind IN ('alerts', 'plan_answer', 'outage', 'status', 'invoice', 'payment', 'webhook')),
  -- The subject: a customer, a request, an outage, a subscription to the status, an invoice, a paid subscription, a delivery.
  subject uuid NOT NULL,
  -- Distinguishes several messages about one subject.
  detail text NOT NULL DEFAULT '',
  -- Receiver of a webhook message. It gets few at a time, and none while it is paused.
  lane uuid REFERENCES webhook ON DELETE CASCADE,
  asked_at timestamptz NOT NULL DEFAULT now(),
  -- When the next attempt is due. While an attempt runs: when it counts as lost with its process. Null: it was sent, or there is nothing
  -- left to send.
  due_at timestamptz DEFAULT now(),
  attempts integer NOT NULL DEFAULT 0,
  CONSTRAINT outbox_once UNIQUE (kind, subject, detail)
);
COMMENT ON TABLE outbox IS 'Messages to be mailed or sent to a webhook, each once. Sent messages are kept 92 days.';
CREATE INDEX outbox_due_idx ON outbox (kind, due_at, id) WHERE due_at IS NOT NULL;
CREATE INDEX outbox_sent_idx ON outbox (asked_at) WHERE due_at IS NULL;
CREATE INDEX outbox_lane_idx ON outbox (lane) WHERE lane IS NOT NULL;

CREATE TABLE webhook_delivery (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  number bigint GENERATED ALWAYS AS IDENTITY,
  webhook_id uuid NOT NULL REFERENCES webhook ON DELETE CASCADE,
  -- The customer's alert. Null for a test, and for the seller.
  alert_id uuid REFERENCES alert ON DELETE CASCADE,
  -- The same for every delivery of one event, including repeats and replays.
  event_id uuid NOT NULL,
  event text NOT NULL,
  -- Time of the event.
  event_at timestamptz NOT NULL,
  -- Content for the seller. For customers, the content follows from the alert.
  data jsonb,
  state text NOT NULL DEFAULT 'waiting' CHECK (state IN ('waiting', 'delivered', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  last_status integer,
  last_error text,
  created_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  CHECK ((state = 'waiting') = (ended_at IS NULL)),
  CONSTRAINT webhook_delivery_tells_one_thing CHECK (num_nonnulls(alert_id, data) = CASE WHEN event = 'test' THEN 0 ELSE 1 END)
);
COMMENT ON TABLE webhook_delivery IS 'The log of deliveries. Waiting deliveries are in the outbox. Kept 30 days.';
CREATE INDEX webhook_delivery_log_idx ON webhook_delivery (webhook_id, number);
CREATE INDEX webhook_delivery_created_idx ON webhook_delivery (created_at);
CREATE INDEX webhook_delivery_alert_idx ON webhook_delivery (alert_id) WHERE alert_id IS NOT NULL;

CREATE FUNCTION queue_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (kind, subject, lane) SELECT 'webhook', id, webhook_id FROM made WHERE state = 'waiting' ORDER BY number;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION queue_deliveries IS 'Puts new deliveries into the outbox.';
CREATE TRIGGER webhook_delivery_queued AFTER INSERT ON webhook_delivery REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION queue_deliveries();

-- Events for the seller. Triggers write the deliveries in the transaction of the event, so that every program reports it. They run
-- with the owner's rights, and only they may call tell_seller: nobody reports what did not happen --------------------------------------

CREATE FUNCTION tell_seller(p_event text, p_data jsonb) RETURNS void LANGUAGE sql AS $$
  INSERT INTO webhook_delivery (webhook_id, event_id, event, event_at, data)
  SELECT w.id, told.id, p_event, now(), p_data
  FROM (SELECT gen_random_uuid() AS id) AS told, webhook w
  WHERE w.customer_id IS NULL AND w.state = 'active' AND (w.events IS NULL OR p_event = ANY (w.events))
$$;
COMMENT ON FUNCTION tell_seller IS 'Queues one event for every webhook of the seller that wants it. The event has the same id everywhere.';
REVOKE ALL ON FUNCTION tell_seller(text, jsonb) FROM PUBLIC;

CREATE FUNCTION seller_hears_of_customers() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('customer.created', jsonb_build_object('customer_id', id, 'customer', email)) FROM made;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION seller_hears_of_customers IS 'Notifies the seller of new customers.';
CREATE TRIGGER customer_insert_told AFTER INSERT ON customer REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_customers();

CREATE FUNCTION seller_hears_of_suspensions() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('customer.suspended', jsonb_build_object('customer_id', c.id, 'customer', c.email, 'reason', made.reason))
    FROM made JOIN customer c ON c.id = made.customer_id;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION seller_hears_of_suspensions IS 'Notifies the seller of suspended customers.';
CREATE TRIGGER suspension_insert_told AFTER INSERT ON suspension REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_suspensions();

CREATE FUNCTION seller_hears_of_requests() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('subscription.requested', jsonb_build_object(
    'request_id', made.id, 'customer_id', c.id, 'customer', c.email, 'product', made.product_id, 'plan', made.plan_name,
    'price', made.price::text, 'currency', made.currency, 'daily', made.daily, 'monthly', made.monthly
  )) FROM made JOIN customer c ON c.id = made.customer_id;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION seller_hears_of_requests IS 'Notifies the seller of plans that customers request.';
CREATE TRIGGER plan_request_insert_told AFTER INSERT ON plan_request REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_requests();

CREATE FUNCTION told_term(p subscription_term) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p.id IS NOT NULL THEN jsonb_build_object(
    'plan', p.plan_name, 'price', p.price::text, 'currency', p.currency, 'daily', p.daily, 'monthly', p.monthly, 'state', p.state
  ) END
$$;
COMMENT ON FUNCTION told_term IS 'A subscription''s terms in the form of the seller''s events. The customer''s own cap is not part of them.';

CREATE FUNCTION seller_hears_of_terms() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller(
    CASE made.state WHEN 'cancelled' THEN 'subscription.cancelled' ELSE 'subscription.changed' END,
    jsonb_build_object(
      'subscription_id', made.subscription_id, 'customer_id', c.id, 'customer', c.email, 'product', made.product_id,
      'before', told_term((
        SELECT t FROM subscription_term t WHERE t.subscription_id = made.subscription_id AND t.id < made.id ORDER BY t.id DESC LIMIT 1
      )),
      'after', told_term(present)
    )
  ) FROM made JOIN customer c ON c.id = made.customer_id JOIN subscription_term present ON present.id = made.id;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION seller_hears_of_terms IS 'Notifies the seller of each term that begins: a change of plan, limits or state, or of the '
  'plan''s own price and limits.';
CREATE TRIGGER subscription_term_insert_told AFTER INSERT ON subscription_term REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_terms();

-- The seller is notified when requests are refused. Use above what the price includes continues and is charged.
CREATE FUNCTION seller_hears_of_alerts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('quota.reached', jsonb_build_object(
    'subscription_id', s.id, 'customer_id', c.id, 'customer', c.email, 'product', s.product_id,
    'window', CASE made.kind WHEN 'quota_daily' THEN 'daily' ELSE 'monthly' END, 'used', made.used, 'limit', made.quota_limit,
    'period', to_char(made.period, CASE made.kind WHEN 'quota_daily' THEN 'YYYY-MM-DD' ELSE 'YYYY-MM' END)
  )) FROM made JOIN customer c ON c.id = made.customer_id JOIN subscription s ON s.id = made.subscription_id
  WHERE made.kind IN ('quota_daily', 'quota_monthly') AND made.percent = 100 AND NOT made.is_included;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION seller_hears_of_alerts IS 'Notifies the seller of limits that are used up.';
CREATE TRIGGER alert_insert_told AFTER INSERT ON alert REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_alerts();

CREATE FUNCTION seller_hears_of_statements() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('statement.ready', jsonb_build_object('customer_id', c.id, 'customer', c.email) || made.content)
    FROM made JOIN customer c ON c.id = made.customer_id;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION seller_hears_of_statements IS 'Notifies the seller of closed statements.';
CREATE TRIGGER statement_insert_told AFTER INSERT ON statement REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_statements();

REVOKE ALL ON FUNCTION seller_hears_of_customers(), seller_hears_of_suspensions(), seller_hears_of_requests(), seller_hears_of_terms(),
  seller_hears_of_alerts(), seller_hears_of_statements() FROM PUBLIC;
