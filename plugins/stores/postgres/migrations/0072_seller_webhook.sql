-- Up Migration
-- The seller's webhooks: of the installation and not of a customer, told of what billing systems follow. Their deliveries are written in the
-- transaction of what they tell, by triggers, so that every program tells it.

ALTER TABLE webhook ALTER COLUMN customer_id DROP NOT NULL;
-- What one of the seller's is told; null: everything.
ALTER TABLE webhook ADD COLUMN events text[];
ALTER TABLE webhook ADD CONSTRAINT webhook_choice_is_the_sellers CHECK (customer_id IS NULL OR events IS NULL);
CREATE INDEX webhook_seller_idx ON webhook (id) WHERE customer_id IS NULL;

-- What is sent to the seller. To customers it follows from the alert.
ALTER TABLE webhook_delivery ADD COLUMN data jsonb;
ALTER TABLE webhook_delivery DROP CONSTRAINT webhook_delivery_event_check;
ALTER TABLE webhook_delivery DROP CONSTRAINT webhook_delivery_check2;
ALTER TABLE webhook_delivery ADD CONSTRAINT webhook_delivery_tells_one_thing
  CHECK (num_nonnulls(alert_id, data) = CASE WHEN event = 'test' THEN 0 ELSE 1 END) NOT VALID;

-- One event, whoever hears it: the same id everywhere.
CREATE FUNCTION tell_seller(p_event text, p_data jsonb) RETURNS void LANGUAGE sql AS $$
  INSERT INTO webhook_delivery (webhook_id, event_id, event, event_at, data)
  SELECT w.id, told.id, p_event, now(), p_data
  FROM (SELECT gen_random_uuid() AS id) AS told, webhook w
  WHERE w.customer_id IS NULL AND w.state = 'active' AND (w.events IS NULL OR p_event = ANY (w.events))
$$;
-- Called by the functions below alone, which run with the owner's rights: nobody tells what did not happen.
REVOKE ALL ON FUNCTION tell_seller(text, jsonb) FROM PUBLIC;

CREATE FUNCTION seller_hears_of_customers() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('customer.created', jsonb_build_object('customer_id', id, 'customer', email)) FROM made;
  RETURN NULL;
END $$;
CREATE TRIGGER customer_insert_told AFTER INSERT ON customer REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_customers();

CREATE FUNCTION seller_hears_of_suspensions() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('customer.suspended', jsonb_build_object('customer_id', c.id, 'customer', c.email, 'reason', made.reason))
    FROM made JOIN customer c ON c.id = made.customer_id;
  RETURN NULL;
END $$;
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
CREATE TRIGGER plan_request_insert_told AFTER INSERT ON plan_request REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_requests();

-- What a subscription is like; the customer's own cap is not part of it.
CREATE FUNCTION told_term(p subscription_term) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p.id IS NOT NULL THEN jsonb_build_object(
    'plan', p.plan_name, 'price', p.price::text, 'currency', p.currency, 'daily', p.daily, 'monthly', p.monthly, 'state', p.state
  ) END
$$;

-- Each term that begins is a change: of plan, limits, state, or of the plan's own price and limits.
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
CREATE TRIGGER subscription_term_insert_told AFTER INSERT ON subscription_term REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_terms();

CREATE FUNCTION seller_hears_of_alerts() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('quota.reached', jsonb_build_object(
    'subscription_id', s.id, 'customer_id', c.id, 'customer', c.email, 'product', s.product_id,
    'window', CASE made.kind WHEN 'quota_daily' THEN 'daily' ELSE 'monthly' END, 'used', made.used, 'limit', made.quota_limit,
    'period', to_char(made.period, CASE made.kind WHEN 'quota_daily' THEN 'YYYY-MM-DD' ELSE 'YYYY-MM' END)
  )) FROM made JOIN customer c ON c.id = made.customer_id JOIN subscription s ON s.id = made.subscription_id
  WHERE made.kind IN ('quota_daily', 'quota_monthly') AND made.percent = 100;
  RETURN NULL;
END $$;
CREATE TRIGGER alert_insert_told AFTER INSERT ON alert REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_alerts();

CREATE FUNCTION seller_hears_of_statements() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  IF NOT EXISTS (SELECT FROM webhook WHERE customer_id IS NULL) THEN RETURN NULL; END IF;
  PERFORM tell_seller('statement.ready', jsonb_build_object('customer_id', c.id, 'customer', c.email) || made.content)
    FROM made JOIN customer c ON c.id = made.customer_id;
  RETURN NULL;
END $$;
CREATE TRIGGER statement_insert_told AFTER INSERT ON statement REFERENCING NEW TABLE AS made
  FOR EACH STATEMENT EXECUTE FUNCTION seller_hears_of_statements();

REVOKE ALL ON FUNCTION seller_hears_of_customers(), seller_hears_of_suspensions(), seller_hears_of_requests(), seller_hears_of_terms(),
  seller_hears_of_alerts(), seller_hears_of_statements() FROM PUBLIC;
