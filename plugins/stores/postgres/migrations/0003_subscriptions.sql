-- Subscriptions: who may use which product on which plan, with the terms agreed to and their cost.

CREATE TABLE subscription (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  product_id text NOT NULL REFERENCES product,
  -- Null: the product's base limits.
  plan_name text,
  state text NOT NULL DEFAULT 'active' CHECK (state IN ('active', 'paused', 'cancelled')),
  -- Limits that an operator set for this subscription alone, on its present plan.
  daily_override integer CHECK (daily_override >= 0),
  monthly_override integer CHECK (monthly_override >= 0),
  -- As in plan.
  rate_override jsonb,
  -- The customer's own daily limit, below the one that applies otherwise. No operator sets it.
  daily_cap integer CHECK (daily_cap >= 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- The subscription's own price for a month, in the plan's currency at the time of the agreement: in another currency the number would be
  -- another price.
  price_override numeric CHECK (price_override >= 0),
  price_override_currency text CHECK (price_override_currency ~ '^[A-Z]{3}$'),
  -- Own limits for earlier plans, by plan, '' for the base limits: daily, monthly, rate, reason, set_by, ends_at.
  own_limits jsonb NOT NULL DEFAULT '{}',
  UNIQUE (customer_id, product_id),
  FOREIGN KEY (product_id, plan_name) REFERENCES plan (product_id, name),
  CONSTRAINT subscription_price_override_has_currency CHECK ((price_override IS NULL) = (price_override_currency IS NULL))
);
COMMENT ON TABLE subscription IS 'A customer''s right to a product.';

-- A customer who has just paid gets the product, even if it was withdrawn in between.
CREATE FUNCTION check_subscribable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (
    SELECT FROM product p WHERE p.id = NEW.product_id AND (p.daily IS NULL OR NOT (p.active AND p.subscribable) AND NOT EXISTS (
      SELECT FROM paid_subscription WHERE customer_id = NEW.customer_id AND product_id = p.id AND status IS DISTINCT FROM 'ended'))
  ) THEN
    RAISE EXCEPTION 'the product cannot be subscribed to'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'subscription_product_has_limits';
  END IF;
  RETURN NEW;
END $$;
COMMENT ON FUNCTION check_subscribable IS 'Refuses subscriptions to a product without limits, and to one that is retired or only listed, '
  'unless it was just paid for.';
CREATE TRIGGER subscription_is_possible BEFORE INSERT OR UPDATE OF product_id ON subscription
  FOR EACH ROW EXECUTE FUNCTION check_subscribable();

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
COMMENT ON FUNCTION tell_subscription_change IS 'Notifies every node that a subscription changed, and whose it is.';
CREATE TRIGGER subscription_tells AFTER INSERT OR UPDATE OR DELETE ON subscription
  FOR EACH ROW EXECUTE FUNCTION tell_subscription_change();
CREATE TRIGGER subscription_truncate_tells AFTER TRUNCATE ON subscription EXECUTE FUNCTION tell_truncate();

CREATE TABLE subscription_limit_term (
  subscription_id uuid PRIMARY KEY REFERENCES subscription ON DELETE CASCADE,
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  set_by text NOT NULL,
  -- When end-limits.ts removes them. Null: never.
  ends_at timestamptz
);
COMMENT ON TABLE subscription_limit_term IS 'Reason of a subscription''s own price or limits, the operator who set them, and their end.';
CREATE INDEX subscription_limit_term_end_idx ON subscription_limit_term (ends_at) WHERE ends_at IS NOT NULL;

-- Own terms are agreed for one plan. The price ends with the plan; the limits wait in own_limits until the subscription is back on it.
CREATE FUNCTION change_own_terms() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
DECLARE
  left_plan text := COALESCE(OLD.plan_name, '');
  next_plan text := COALESCE(NEW.plan_name, '');
  known jsonb := OLD.own_limits -> next_plan;
BEGIN
  NEW.price_override := NULL;
  NEW.price_override_currency := NULL;
  NEW.own_limits := OLD.own_limits - next_plan;
  -- Limits that this statement itself sets are those of the next plan.
  IF (NEW.daily_override, NEW.monthly_override, NEW.rate_override)
    IS NOT DISTINCT FROM (OLD.daily_override, OLD.monthly_override, OLD.rate_override) THEN
    IF num_nonnulls(OLD.daily_override, OLD.monthly_override, OLD.rate_override) > 0 THEN
      NEW.own_limits := NEW.own_limits || jsonb_build_object(left_plan, jsonb_strip_nulls(jsonb_build_object(
          'daily', OLD.daily_override, 'monthly', OLD.monthly_override, 'rate', OLD.rate_override))
        || COALESCE((SELECT jsonb_build_object('reason', reason, 'set_by', set_by, 'ends_at', ends_at)
          FROM subscription_limit_term WHERE subscription_id = OLD.id), '{}'));
    END IF;
    IF (known ->> 'ends_at')::timestamptz <= now() THEN known := NULL; END IF;
    NEW.daily_override := (known ->> 'daily')::integer;
    NEW.monthly_override := (known ->> 'monthly')::integer;
    NEW.rate_override := known -> 'rate';
    DELETE FROM subscription_limit_term WHERE subscription_id = OLD.id;
    INSERT INTO subscription_limit_term (subscription_id, reason, set_by, ends_at)
      SELECT OLD.id, known ->> 'reason', known ->> 'set_by', (known ->> 'ends_at')::timestamptz WHERE known ->> 'reason' IS NOT NULL;
  ELSIF num_nonnulls(NEW.daily_override, NEW.monthly_override, NEW.rate_override) = 0 THEN
    DELETE FROM subscription_limit_term WHERE subscription_id = OLD.id;
  END IF;
  RETURN NEW;
END $$;
REVOKE ALL ON FUNCTION change_own_terms() FROM PUBLIC;
COMMENT ON FUNCTION change_own_terms IS 'Ends a subscription''s own price with the plan that it was agreed for, and keeps its own limits for that plan.';
CREATE TRIGGER subscription_other_plan_changes_own_terms BEFORE UPDATE OF plan_name ON subscription FOR EACH ROW
  WHEN (NEW.plan_name IS DISTINCT FROM OLD.plan_name) EXECUTE FUNCTION change_own_terms();

CREATE TABLE plan_request (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- The order of the requests, for pages.
  number bigint GENERATED ALWAYS AS IDENTITY,
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  product_id text NOT NULL,
  plan_name text NOT NULL,
  -- The terms that the customer agreed to: a plan that has changed since is not the plan that was requested.
  daily integer NOT NULL,
  monthly integer NOT NULL,
  price numeric NOT NULL,
  currency text NOT NULL,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'approved', 'declined', 'withdrawn')),
  -- For the customer to read. Empty unless the request was declined.
  reason text NOT NULL DEFAULT '' CHECK (length(reason) <= 500),
  asked_at timestamptz NOT NULL DEFAULT now(),
  answered_at timestamptz,
  -- As in plan.
  overage jsonb,
  CHECK ((state = 'open') = (answered_at IS NULL)),
  FOREIGN KEY (product_id, plan_name) REFERENCES plan (product_id, name)
);
COMMENT ON TABLE plan_request IS 'A plan that a customer requested and an operator decides on. Until then the subscription stays as it is.';
CREATE UNIQUE INDEX plan_request_one_open ON plan_request (customer_id, product_id) WHERE state = 'open';
CREATE INDEX plan_request_open_idx ON plan_request (number) WHERE state = 'open';
CREATE INDEX plan_request_customer_idx ON plan_request (customer_id, product_id, number);

CREATE FUNCTION withdraw_plan_requests() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE plan_request SET state = 'withdrawn', answered_at = now()
  WHERE customer_id = NEW.customer_id AND product_id = NEW.product_id AND state = 'open';
  RETURN NULL;
END $$;
COMMENT ON FUNCTION withdraw_plan_requests IS 'Withdraws a customer''s open requests when the subscription is cancelled: an approval would '
  'bring the subscription back, with its price.';
CREATE TRIGGER subscription_cancel_withdraws AFTER UPDATE OF state ON subscription FOR EACH ROW
  WHEN (NEW.state = 'cancelled' AND OLD.state <> 'cancelled') EXECUTE FUNCTION withdraw_plan_requests();

-- Terms. Triggers write them with the owner's rights: every program keeps them, and none can write anything else --------------------

-- keep_subscription_terms builds rows in the order of these columns.
CREATE TABLE subscription_term (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  subscription_id uuid NOT NULL,
  customer_id uuid NOT NULL,
  product_id text NOT NULL,
  -- Null: the product's base limits, which cost nothing.
  plan_name text,
  price numeric NOT NULL,
  currency text,
  -- Limits in force.
  daily integer NOT NULL,
  monthly integer NOT NULL,
  state text NOT NULL,
  since timestamptz NOT NULL,
  -- Start of the next term. Null while this term applies.
  until timestamptz,
  -- As in plan, with the limits of the subscription.
  overage jsonb,
  CHECK (until >= since)
);
COMMENT ON TABLE subscription_term IS 'The terms of a subscription over time: a later price must not change the statement of an earlier '
  'month. No foreign keys: charges outlive the subscription.';
CREATE UNIQUE INDEX subscription_term_present ON subscription_term (subscription_id) WHERE until IS NULL;
CREATE INDEX subscription_term_customer_idx ON subscription_term (customer_id, since);

CREATE FUNCTION overage_of(p_overage jsonb, p_daily integer, p_monthly integer) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE WHEN p_overage IS NOT NULL THEN
    p_overage || jsonb_strip_nulls(jsonb_build_object('daily', p_daily, 'monthly', p_monthly))
  END
$$;
COMMENT ON FUNCTION overage_of IS 'What a plan sells above its limits, for a subscription with its own limits: requests up to those are '
  'included, and requests above them are refused.';

CREATE FUNCTION keep_subscription_terms(p_subscriptions uuid[]) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  due subscription_term[];
BEGIN
  -- Waits for a price that is changing at this time: either the new price counts here, or its own trigger finds these subscriptions.
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
  -- A term that began in this transaction was never in force.
  DELETE FROM subscription_term t USING unnest(due) AS d
    WHERE t.subscription_id = d.subscription_id AND t.until IS NULL AND t.since = now();
  UPDATE subscription_term t SET until = GREATEST(now(), t.since) FROM unnest(due) AS d
    WHERE t.subscription_id = d.subscription_id AND t.until IS NULL;
  INSERT INTO subscription_term (
    subscription_id, customer_id, product_id, plan_name, price, currency, daily, monthly, state, since, overage
  )
  SELECT d.subscription_id, d.customer_id, d.product_id, d.plan_name, d.price, d.currency, d.daily, d.monthly, d.state,
    -- Filtered by the customer, because there is an index for it.
    COALESCE((SELECT max(t.until) FROM subscription_term t WHERE t.customer_id = d.customer_id AND t.subscription_id = d.subscription_id), now()),
    d.overage
  FROM unnest(due) AS d;
END $$;
COMMENT ON FUNCTION keep_subscription_terms IS 'Ends the terms of these subscriptions that no longer apply, and begins those that do.';

CREATE FUNCTION keep_changed_subscriptions() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM keep_subscription_terms(ARRAY(SELECT id FROM changed));
  RETURN NULL;
END $$;
COMMENT ON FUNCTION keep_changed_subscriptions IS 'Records the terms of subscriptions that were made or changed.';
CREATE TRIGGER subscription_insert_keeps_terms AFTER INSERT ON subscription REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION keep_changed_subscriptions();
CREATE TRIGGER subscription_update_keeps_terms AFTER UPDATE ON subscription REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION keep_changed_subscriptions();

CREATE FUNCTION end_terms_of_gone_subscriptions() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  UPDATE subscription_term t SET until = GREATEST(now(), t.since) FROM changed c WHERE t.subscription_id = c.id AND t.until IS NULL;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION end_terms_of_gone_subscriptions IS 'Ends the terms of subscriptions that were deleted.';
CREATE TRIGGER subscription_delete_ends_terms AFTER DELETE ON subscription REFERENCING OLD TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION end_terms_of_gone_subscriptions();

CREATE FUNCTION keep_subscriptions_of_plans() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM keep_subscription_terms(ARRAY(
    SELECT s.id FROM changed c JOIN subscription s ON s.product_id = c.product_id AND s.plan_name = c.name
  ));
  RETURN NULL;
END $$;
COMMENT ON FUNCTION keep_subscriptions_of_plans IS 'Records the terms of subscriptions whose plan changed.';
CREATE TRIGGER plan_update_keeps_terms AFTER UPDATE ON plan REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION keep_subscriptions_of_plans();

CREATE FUNCTION keep_subscriptions_of_products() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  PERFORM keep_subscription_terms(ARRAY(SELECT s.id FROM changed c JOIN subscription s ON s.product_id = c.id AND s.plan_name IS NULL));
  RETURN NULL;
END $$;
COMMENT ON FUNCTION keep_subscriptions_of_products IS 'Records the terms of subscriptions whose base limits changed.';
CREATE TRIGGER product_update_keeps_terms AFTER UPDATE ON product REFERENCING NEW TABLE AS changed
  FOR EACH STATEMENT EXECUTE FUNCTION keep_subscriptions_of_products();

REVOKE ALL ON FUNCTION keep_changed_subscriptions(), end_terms_of_gone_subscriptions(), keep_subscriptions_of_plans(),
  keep_subscriptions_of_products() FROM PUBLIC;

CREATE TABLE statement (
  customer_id uuid NOT NULL,
  -- First day of the month.
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  closed_at timestamptz NOT NULL DEFAULT now(),
  -- As services/selling/statements/statement.ts computed it.
  content jsonb NOT NULL,
  PRIMARY KEY (customer_id, month)
);
COMMENT ON TABLE statement IS 'Statements of past months. Never changed and never deleted.';

CREATE FUNCTION refuse_statement_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a closed statement stays as it is' USING ERRCODE = 'check_violation', CONSTRAINT = 'statement_is_final';
END $$;
COMMENT ON FUNCTION refuse_statement_change IS 'Refuses every change of a closed statement.';
CREATE TRIGGER statement_is_final BEFORE UPDATE OR DELETE ON statement
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_statement_change();

-- Declarations that customers make when they subscribe to a product that requires them.
CREATE TABLE consent (
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  product_id text NOT NULL REFERENCES product,
  -- SHA-256 of the text: a changed text is asked again.
  version bytea NOT NULL CHECK (octet_length(version) = 32),
  text text NOT NULL,
  -- The channel: `dashboard`, `operator`, `cli`, or `token:` and the token's name.
  given_by text NOT NULL,
  -- The person, if it was one with an account. Null once the account is erased.
  user_id uuid REFERENCES auth_user ON DELETE SET NULL,
  given_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (customer_id, product_id, version)
);
COMMENT ON TABLE consent IS 'Texts of the catalogue that a customer agreed to, and who agreed. Rows are only added.';
CREATE INDEX consent_user_idx ON consent (user_id) WHERE user_id IS NOT NULL;
