-- Up Migration
-- What held for each subscription, and since when: a statement of a month must not change with a price that changes later. Written by
-- triggers, so that every program writes it, and with the owner's rights, so that no program can write anything else.

-- No foreign keys: what was charged outlives whom it was charged to.
CREATE TABLE subscription_term (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  subscription_id uuid NOT NULL,
  customer_id uuid NOT NULL,
  product_id text NOT NULL,
  -- Null: the product's base limits, which cost nothing.
  plan_name text,
  price numeric(12, 2) NOT NULL,
  currency text,
  -- Limits in force.
  daily integer NOT NULL,
  monthly integer NOT NULL,
  state text NOT NULL,
  since timestamptz NOT NULL,
  -- Where the next term begins; null while it holds.
  until timestamptz,
  CHECK (until >= since)
);
CREATE UNIQUE INDEX subscription_term_present ON subscription_term (subscription_id) WHERE until IS NULL;
CREATE INDEX subscription_term_customer_idx ON subscription_term (customer_id, since);

-- Ends the terms of these subscriptions that hold no more, and begins those that do.
CREATE FUNCTION keep_subscription_terms(p_subscriptions uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  due subscription_term[];
BEGIN
  -- A price that changes at this moment is waited for: it either counts here, or its own trigger finds these subscriptions.
  PERFORM 1 FROM plan WHERE (product_id, name) IN (SELECT product_id, plan_name FROM subscription WHERE id = ANY (p_subscriptions))
    ORDER BY product_id, name FOR SHARE;
  PERFORM 1 FROM product WHERE id IN (SELECT product_id FROM subscription WHERE id = ANY (p_subscriptions)) ORDER BY id FOR SHARE;
  due := ARRAY(
    SELECT ROW(
      0, s.id, s.customer_id, s.product_id, s.plan_name,
      CASE WHEN s.plan_name IS NULL THEN 0 ELSE COALESCE(l.price, l.price_inr, 0) END, CASE WHEN s.plan_name IS NOT NULL THEN l.currency END,
      COALESCE(s.daily_override, l.daily, p.daily, 0), COALESCE(s.monthly_override, l.monthly, p.monthly, 0), s.state, now(), NULL
    )::subscription_term
    FROM subscription s JOIN product p ON p.id = s.product_id
    LEFT JOIN plan l ON l.product_id = s.product_id AND l.name = s.plan_name
    LEFT JOIN subscription_term t ON t.subscription_id = s.id AND t.until IS NULL
    WHERE s.id = ANY (p_subscriptions)
      AND (t.plan_name, t.price, t.currency, t.daily, t.monthly, t.state) IS DISTINCT FROM (
        s.plan_name, CASE WHEN s.plan_name IS NULL THEN 0 ELSE COALESCE(l.price, l.price_inr, 0) END,
        CASE WHEN s.plan_name IS NOT NULL THEN l.currency END, COALESCE(s.daily_override, l.daily, p.daily, 0),
        COALESCE(s.monthly_override, l.monthly, p.monthly, 0), s.state
      )
    ORDER BY s.id
  );
  -- What this transaction began itself nobody ever had.
  DELETE FROM subscription_term t USING unnest(due) AS d
    WHERE t.subscription_id = d.subscription_id AND t.until IS NULL AND t.since = now();
  UPDATE subscription_term t SET until = GREATEST(now(), t.since) FROM unnest(due) AS d
    WHERE t.subscription_id = d.subscription_id AND t.until IS NULL;
  INSERT INTO subscription_term (
    subscription_id, customer_id, product_id, plan_name, price, currency, daily, monthly, state, since
  )
  SELECT d.subscription_id, d.customer_id, d.product_id, d.plan_name, d.price, d.currency, d.daily, d.monthly, d.state,
    COALESCE((SELECT max(t.until) FROM subscription_term t WHERE t.subscription_id = d.subscription_id), now())
  FROM unnest(due) AS d;
END $$;

CREATE FUNCTION keep_changed_subscriptions() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM keep_subscription_terms(ARRAY(SELECT id FROM changed));
  RETURN NULL;
END $$;
CREATE TRIGGER subscription_insert_keeps_terms AFTER INSERT ON subscription REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION keep_changed_subscriptions();
CREATE TRIGGER subscription_update_keeps_terms AFTER UPDATE ON subscription REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION keep_changed_subscriptions();

CREATE FUNCTION end_terms_of_gone_subscriptions() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE subscription_term t SET until = GREATEST(now(), t.since) FROM changed c WHERE t.subscription_id = c.id AND t.until IS NULL;
  RETURN NULL;
END $$;
CREATE TRIGGER subscription_delete_ends_terms AFTER DELETE ON subscription REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION end_terms_of_gone_subscriptions();

CREATE FUNCTION keep_subscriptions_of_plans() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM keep_subscription_terms(ARRAY(
    SELECT s.id FROM changed c JOIN subscription s ON s.product_id = c.product_id AND s.plan_name = c.name
  ));
  RETURN NULL;
END $$;
CREATE TRIGGER plan_update_keeps_terms AFTER UPDATE ON plan REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION keep_subscriptions_of_plans();

CREATE FUNCTION keep_subscriptions_of_products() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM keep_subscription_terms(ARRAY(SELECT s.id FROM changed c JOIN subscription s ON s.product_id = c.id AND s.plan_name IS NULL));
  RETURN NULL;
END $$;
CREATE TRIGGER product_update_keeps_terms AFTER UPDATE ON product REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION keep_subscriptions_of_products();

REVOKE ALL ON FUNCTION keep_changed_subscriptions(), end_terms_of_gone_subscriptions(), keep_subscriptions_of_plans(),
  keep_subscriptions_of_products() FROM PUBLIC;

-- What came before is not known: statements begin here.
SELECT keep_subscription_terms(ARRAY(SELECT id FROM subscription));

-- Statements of months that are over. Never changed and never deleted.
CREATE TABLE statement (
  customer_id uuid NOT NULL,
  -- Its first day.
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  closed_at timestamptz NOT NULL DEFAULT now(),
  -- As plugins/core/selling/statement.ts computed it.
  content jsonb NOT NULL,
  PRIMARY KEY (customer_id, month)
);

CREATE FUNCTION refuse_statement_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a closed statement stays as it is' USING ERRCODE = 'check_violation', CONSTRAINT = 'statement_is_final';
END $$;
CREATE TRIGGER statement_is_final BEFORE UPDATE OR DELETE ON statement
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement_change();
