-- Plans that are paid for in advance: the facts from a payment provider, and the state that follows from them. No card data, and no
-- personal data.

CREATE TABLE payment_account (
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  provider text NOT NULL,
  -- The provider's id of the customer.
  account text NOT NULL,
  PRIMARY KEY (customer_id, provider)
);
COMMENT ON TABLE payment_account IS 'The id under which a payment provider knows a customer.';

CREATE TABLE checkout (
  -- Also the idempotency key by which the provider recognises a repeated request.
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  product_id text NOT NULL,
  plan_name text NOT NULL,
  -- The price that the customer agreed to, in the currency's smallest unit: a later price of the plan is not charged here.
  price bigint NOT NULL CHECK (price > 0),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  provider text NOT NULL,
  -- The provider's id and page. Null until the provider has responded.
  session text,
  url text,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'paid', 'closed')),
  opened_at timestamptz NOT NULL DEFAULT now(),
  -- When the provider is next asked for the result. Null: the result is known.
  look_at timestamptz DEFAULT now() + interval '20 seconds',
  -- The plan's limits when the customer was sent to pay. The price includes them.
  daily integer,
  monthly integer,
  -- As the customer agreed to it, with `cap`.
  overage jsonb,
  UNIQUE (provider, session),
  FOREIGN KEY (product_id, plan_name) REFERENCES plan (product_id, name)
);
COMMENT ON TABLE checkout IS 'Plans that a customer was sent to pay for. Nothing changes until the provider confirms the payment.';
CREATE UNIQUE INDEX checkout_one_open ON checkout (customer_id, product_id) WHERE state = 'open';
CREATE INDEX checkout_look_idx ON checkout (look_at) WHERE look_at IS NOT NULL;

CREATE TABLE payment_fact (
  provider text NOT NULL,
  -- The provider's id of the event, so that a repeated event is kept once.
  id text NOT NULL,
  -- The provider's id of the subscription concerned.
  paid_subscription text NOT NULL,
  -- Time by the provider's clock.
  at timestamptz NOT NULL,
  -- As services/selling/billing/payment-state.ts defines it.
  fact jsonb NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  -- Null: stored, but not applied yet.
  applied_at timestamptz,
  PRIMARY KEY (provider, id)
);
COMMENT ON TABLE payment_fact IS 'Events of a payment provider, each stored once. State follows from these rows alone.';
CREATE INDEX payment_fact_subscription_idx ON payment_fact (provider, paid_subscription);
CREATE INDEX payment_fact_new_idx ON payment_fact (received_at) WHERE applied_at IS NULL;

CREATE TABLE paid_subscription (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  provider text NOT NULL,
  -- The provider's id.
  reference text NOT NULL,
  -- No foreign keys: the record of a payment outlives the customer.
  customer_id uuid NOT NULL,
  product_id text NOT NULL,
  -- The state that follows from the facts; see PaymentState. Null until the provider has described the subscription.
  status text CHECK (status IN ('waiting', 'trial', 'active', 'failing', 'ended')),
  plan_name text,
  price bigint,
  currency text,
  period_end timestamptz,
  cancels_at timestamptz,
  failing_since timestamptz,
  -- The plan that replaces this one in the next period, and its price. Null: the plan continues.
  next_plan text,
  next_price bigint,
  -- The seller's discount on the price; see Discount. Null: none.
  discount jsonb,
  -- True: nothing is charged until it is resumed.
  is_paused boolean NOT NULL DEFAULT false,
  -- What the payment gave the customer.
  entitlement text NOT NULL DEFAULT 'none' CHECK (entitlement IN ('plan', 'suspended', 'none')),
  -- The plan that was given. When the provider has another plan, that one is given.
  given_plan text,
  -- When the provider is next asked, and due dates are checked. Null: it has ended.
  look_at timestamptz DEFAULT now(),
  made_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (provider, reference)
);
COMMENT ON TABLE paid_subscription IS 'Subscriptions at a payment provider, and what they give the customer.';
CREATE INDEX paid_subscription_customer_idx ON paid_subscription (customer_id, product_id);
CREATE INDEX paid_subscription_look_idx ON paid_subscription (look_at) WHERE look_at IS NOT NULL;

CREATE TABLE trial (
  product_id text NOT NULL,
  -- A keyed hash, which reveals no address; see services/dashboard/billing/mailbox.ts.
  mailbox text NOT NULL,
  -- No foreign keys: a used trial outlives the customer.
  customer_id uuid NOT NULL,
  PRIMARY KEY (product_id, mailbox)
);
COMMENT ON TABLE trial IS 'Trials that were offered: one for each mailbox and product, whatever became of the account.';

CREATE TABLE plan_preview (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  paid_subscription_id uuid NOT NULL REFERENCES paid_subscription ON DELETE CASCADE,
  plan_name text NOT NULL,
  price bigint NOT NULL,
  -- Limits of the plan, the amount paid, and the planned change; see PlanPreview.
  terms jsonb NOT NULL,
  held jsonb NOT NULL,
  change jsonb NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  accepted_at timestamptz
);
COMMENT ON TABLE plan_preview IS 'Terms that customers were shown before they agreed to another plan; each is accepted once.';
CREATE INDEX plan_preview_subscription_idx ON plan_preview (paid_subscription_id, accepted_at);

CREATE TABLE payment_check (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  asked_at timestamptz NOT NULL DEFAULT now(),
  -- Until then a process is working on it. Null: none is.
  taken_until timestamptz,
  done_at timestamptz,
  -- Differences from the provider that were corrected. Null until the check is done.
  report jsonb
);
COMMENT ON TABLE payment_check IS 'Comparisons of every paid subscription with its provider: one a night, and on demand.';
CREATE INDEX payment_check_open_idx ON payment_check (asked_at) WHERE done_at IS NULL;

-- The result of each invoice of a payment provider, so that the seller's sums and lists need not read every event.

CREATE TABLE payment_charge (
  -- The order in which they became known, for pages of lists.
  place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  provider text NOT NULL,
  -- The provider's id.
  invoice text NOT NULL,
  paid_subscription_id uuid NOT NULL REFERENCES paid_subscription,
  currency text NOT NULL,
  -- In the currency's smallest unit.
  amount bigint NOT NULL,
  -- Times of the first attempt and of the payment, by the provider's clock. Null: not paid as far as is known.
  charged_at timestamptz NOT NULL,
  paid_at timestamptz,
  -- The provider's own page of the invoice.
  url text,
  -- The provider's id of the payment, if it differs from the invoice's.
  payment text,
  -- What it charges: a plan, and use above limits by ids of overage_charge, as [{id, amount}]. Null: unknown; none.
  plan text,
  use jsonb,
  -- The amount refunded by the provider so far, the total after each refund, and the time of the last. Null: none so far.
  refunded bigint NOT NULL DEFAULT 0,
  refunds bigint[] NOT NULL DEFAULT '{}',
  refunded_at timestamptz,
  -- How much of the refunds our own credit notes cover. Null: there is no invoice of our own.
  billed bigint,
  -- A refund requested from the provider, under an id of ours, and the time until which no other process may request it. Null: none is
  -- open.
  refund_id uuid,
  refund_amount bigint CHECK (refund_amount > 0),
  refund_until timestamptz,
  -- Reasons for the seller's refunds, by the total refunded with each; printed on our credit notes.
  reasons jsonb NOT NULL DEFAULT '{}',
  UNIQUE (provider, invoice)
);
COMMENT ON TABLE payment_charge IS 'Charges of customers by a payment provider, one row per invoice. They follow from payment_fact.';
CREATE INDEX payment_charge_charged_idx ON payment_charge (charged_at);
CREATE INDEX payment_charge_subscription_idx ON payment_charge (paid_subscription_id);
-- Charges that may lack an invoice or a credit note of our own.
CREATE INDEX payment_charge_unbilled_idx ON payment_charge (paid_at) WHERE paid_at IS NOT NULL AND billed IS DISTINCT FROM refunded;

CREATE TABLE payment_charge_sum (
  provider text NOT NULL,
  currency text NOT NULL,
  -- Rounded to a quarter of an hour: days of every time zone begin with one.
  charged_at timestamptz NOT NULL,
  charges bigint NOT NULL,
  amount numeric NOT NULL,
  refunded numeric NOT NULL,
  PRIMARY KEY (provider, currency, charged_at)
);
COMMENT ON TABLE payment_charge_sum IS 'Sums of paid charges. Written by triggers alone. The other charges are few and change by '
  'themselves.';
CREATE INDEX payment_charge_unpaid_idx ON payment_charge (charged_at) WHERE paid_at IS NULL;

CREATE FUNCTION sum_payment_charges() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO payment_charge_sum AS known (provider, currency, charged_at, charges, amount, refunded)
  SELECT provider, currency, date_bin('15 minutes', charged_at, 'epoch'), count(*), sum(amount), sum(refunded)
  FROM added WHERE paid_at IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (provider, currency, charged_at) DO UPDATE SET charges = known.charges + excluded.charges,
    amount = known.amount + excluded.amount, refunded = known.refunded + excluded.refunded;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION sum_payment_charges IS 'Adds new paid charges to the sums.';
CREATE FUNCTION sum_changed_charges() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO payment_charge_sum AS known (provider, currency, charged_at, charges, amount, refunded)
  SELECT provider, currency, date_bin('15 minutes', charged_at, 'epoch'), sum(sign), sum(sign * amount), sum(sign * refunded)
  FROM (SELECT 1 AS sign, * FROM added UNION ALL SELECT -1, * FROM gone) AS changed
  WHERE paid_at IS NOT NULL GROUP BY 1, 2, 3 HAVING (sum(sign), sum(sign * amount), sum(sign * refunded)) <> (0, 0, 0) ORDER BY 1, 2, 3
  ON CONFLICT (provider, currency, charged_at) DO UPDATE SET charges = known.charges + excluded.charges,
    amount = known.amount + excluded.amount, refunded = known.refunded + excluded.refunded;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION sum_changed_charges IS 'Adds changes of paid charges to the sums.';
REVOKE ALL ON FUNCTION sum_payment_charges(), sum_changed_charges() FROM PUBLIC;
CREATE TRIGGER payment_charge_insert_is_summed AFTER INSERT ON payment_charge REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION sum_payment_charges();
CREATE TRIGGER payment_charge_update_is_summed AFTER UPDATE ON payment_charge REFERENCING OLD TABLE AS gone NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION sum_changed_charges();

CREATE TABLE overage_charge (
  -- Id by which the provider recognises a repeated charge.
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL,
  month date NOT NULL,
  product_id text NOT NULL,
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  units bigint NOT NULL CHECK (units > 0),
  -- In the currency's smallest unit.
  amount bigint NOT NULL CHECK (amount > 0),
  -- The subscription at the provider whose next invoice includes the charge, once that is chosen.
  provider text,
  reference text,
  -- Number of requests to the provider. From the second on, the provider is first asked whether it has the charge.
  attempts integer NOT NULL DEFAULT 0,
  -- The provider's id, once the provider has the charge.
  charge text,
  -- Reason of the provider's last refusal. Empty: none.
  problem text NOT NULL DEFAULT '',
  -- When the provider is next asked. Null: it has the charge.
  look_at timestamptz DEFAULT now(),
  UNIQUE (customer_id, month, product_id, currency),
  FOREIGN KEY (customer_id, month) REFERENCES statement,
  CHECK ((charge IS NULL) = (look_at IS NOT NULL))
);
COMMENT ON TABLE overage_charge IS 'Use above the limits in a closed statement, of plans that a payment provider charges: each appears '
  'once on an invoice of the provider.';
CREATE INDEX overage_charge_look_idx ON overage_charge (look_at) WHERE look_at IS NOT NULL;
