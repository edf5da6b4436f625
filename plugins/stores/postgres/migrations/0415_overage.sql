-- Use above the limits of a plan, for a price. Where it is sold, `daily` and `monthly` of plan and term are the cap, at which requests are
-- refused, and `overage` has what the price includes: {"per": 1000, "price": "20.00", "daily": 10000, "monthly": 300000}.

-- Null: nothing is sold above the limits.
ALTER TABLE plan ADD COLUMN overage jsonb;
ALTER TABLE plan_request ADD COLUMN overage jsonb;
ALTER TABLE subscription_term ADD COLUMN overage jsonb;
-- As the customer agreed to it, with `cap`; daily and monthly of a checkout are what the price includes.
ALTER TABLE checkout ADD COLUMN overage jsonb;

CREATE FUNCTION overage_of(p_overage jsonb, p_daily integer, p_monthly integer) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_overage IS NOT NULL THEN
    p_overage || jsonb_strip_nulls(jsonb_build_object('daily', p_daily, 'monthly', p_monthly))
  END
$$;
COMMENT ON FUNCTION overage_of IS 'What a plan sells above its limits, for a subscription with these limits of its own: they are included, and refuse.';

CREATE OR REPLACE FUNCTION keep_subscription_terms(p_subscriptions uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  due subscription_term[];
BEGIN
  -- A price that changes at this moment is waited for: it either counts here, or its own trigger finds these subscriptions.
  PERFORM 1 FROM plan WHERE (product_id, name) IN (SELECT product_id, plan_name FROM subscription WHERE id = ANY (p_subscriptions))
    ORDER BY product_id, name FOR SHARE;
  PERFORM 1 FROM product WHERE id IN (SELECT product_id FROM subscription WHERE id = ANY (p_subscriptions)) ORDER BY id FOR SHARE;
  due := ARRAY(
    SELECT ROW(
      0, s.id, s.customer_id, s.product_id, s.plan_name, now_.price, now_.currency, now_.daily, now_.monthly, s.state, now(), NULL, now_.overage
    )::subscription_term
    FROM subscription s JOIN product p ON p.id = s.product_id
    LEFT JOIN plan l ON l.product_id = s.product_id AND l.name = s.plan_name
    LEFT JOIN subscription_term t ON t.subscription_id = s.id AND t.until IS NULL
    CROSS JOIN LATERAL (
      SELECT
        CASE WHEN s.plan_name IS NULL THEN 0.00
          ELSE COALESCE(CASE WHEN s.price_override_currency = l.currency THEN s.price_override END, l.price, 0.00) END AS price,
        CASE WHEN s.plan_name IS NOT NULL THEN l.currency END AS currency,
        COALESCE(s.daily_override, l.daily, p.daily, 0) AS daily, COALESCE(s.monthly_override, l.monthly, p.monthly, 0) AS monthly,
        overage_of(l.overage, s.daily_override, s.monthly_override) AS overage
    ) AS now_
    WHERE s.id = ANY (p_subscriptions)
      AND (t.plan_name, t.price, t.currency, t.daily, t.monthly, t.state, t.overage)
        IS DISTINCT FROM (s.plan_name, now_.price, now_.currency, now_.daily, now_.monthly, s.state, now_.overage)
    ORDER BY s.id
  );
  -- Nobody ever had what this transaction began itself.
  DELETE FROM subscription_term t USING unnest(due) AS d
    WHERE t.subscription_id = d.subscription_id AND t.until IS NULL AND t.since = now();
  UPDATE subscription_term t SET until = GREATEST(now(), t.since) FROM unnest(due) AS d
    WHERE t.subscription_id = d.subscription_id AND t.until IS NULL;
  INSERT INTO subscription_term (
    subscription_id, customer_id, product_id, plan_name, price, currency, daily, monthly, state, since, overage
  )
  SELECT d.subscription_id, d.customer_id, d.product_id, d.plan_name, d.price, d.currency, d.daily, d.monthly, d.state,
    COALESCE((SELECT max(t.until) FROM subscription_term t WHERE t.subscription_id = d.subscription_id), now()), d.overage
  FROM unnest(due) AS d;
END $$;

CREATE TABLE overage_charge (
  -- By which the provider recognises one that is sent again.
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL,
  month date NOT NULL,
  product_id text NOT NULL,
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  units bigint NOT NULL CHECK (units > 0),
  -- In the currency's smallest unit.
  amount bigint NOT NULL CHECK (amount > 0),
  -- The subscription at the provider whose next invoice has it, once that is chosen.
  provider text,
  reference text,
  -- How often the provider was asked. From the second time on it is first asked whether it has it.
  attempts integer NOT NULL DEFAULT 0,
  -- The provider's id, once it has it.
  charge text,
  -- Why the provider refused it when it was last asked. Empty: it did not.
  problem text NOT NULL DEFAULT '',
  -- When the provider is asked. Null: it has it.
  look_at timestamptz DEFAULT now(),
  UNIQUE (customer_id, month, product_id, currency),
  FOREIGN KEY (customer_id, month) REFERENCES statement,
  CHECK ((charge IS NULL) = (look_at IS NOT NULL))
);
COMMENT ON TABLE overage_charge IS 'Use above the limits in a closed statement, of plans that a payment provider charges: each once on its invoice.';
CREATE INDEX overage_charge_look_idx ON overage_charge (look_at) WHERE look_at IS NOT NULL;
