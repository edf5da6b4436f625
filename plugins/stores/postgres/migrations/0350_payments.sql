-- Plans that are paid for before they begin: what a payment provider said, and what that comes to. No card data, and nothing of a person.

CREATE TABLE payment_account (
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  provider text NOT NULL,
  -- The provider's id of the customer.
  account text NOT NULL,
  PRIMARY KEY (customer_id, provider)
);
COMMENT ON TABLE payment_account IS 'Under which id a payment provider knows a customer.';

CREATE TABLE checkout (
  -- Also the key by which the provider recognises a request that is sent again.
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  product_id text NOT NULL,
  plan_name text NOT NULL,
  -- What the customer agreed to, in the currency's smallest unit: a later price of the plan is not charged here.
  price bigint NOT NULL CHECK (price > 0),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  provider text NOT NULL,
  -- The provider's id and page. Null until it has answered.
  session text,
  url text,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'paid', 'closed')),
  opened_at timestamptz NOT NULL DEFAULT now(),
  -- When the provider is asked what came of it. Null: it has come to an end.
  look_at timestamptz DEFAULT now() + interval '20 seconds',
  UNIQUE (provider, session),
  FOREIGN KEY (product_id, plan_name) REFERENCES plan (product_id, name)
);
COMMENT ON TABLE checkout IS 'Plans that a customer was sent to pay for. Until the provider says that it is paid, nothing changes.';
CREATE UNIQUE INDEX checkout_one_open ON checkout (customer_id, product_id) WHERE state = 'open';
CREATE INDEX checkout_look_idx ON checkout (look_at) WHERE look_at IS NOT NULL;

CREATE TABLE payment_fact (
  provider text NOT NULL,
  -- The provider's id of the event, so that what comes twice is kept once.
  id text NOT NULL,
  -- The provider's id of the subscription that it is about.
  paid_subscription text NOT NULL,
  -- In the provider's own time.
  at timestamptz NOT NULL,
  -- As services/selling/billing/payment-state.ts has it.
  fact jsonb NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  -- Null: kept, and not counted yet.
  applied_at timestamptz,
  PRIMARY KEY (provider, id)
);
COMMENT ON TABLE payment_fact IS 'What a payment provider said, each event once. State follows from these rows alone.';
CREATE INDEX payment_fact_subscription_idx ON payment_fact (provider, paid_subscription);
CREATE INDEX payment_fact_new_idx ON payment_fact (received_at) WHERE applied_at IS NULL;

CREATE TABLE paid_subscription (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  provider text NOT NULL,
  -- The provider's id.
  reference text NOT NULL,
  -- No foreign keys: what was paid outlives the customer.
  customer_id uuid NOT NULL,
  product_id text NOT NULL,
  -- What the facts come to; see PaymentState. Null until the provider has said what it is.
  status text CHECK (status IN ('waiting', 'trial', 'active', 'failing', 'ended')),
  plan_name text,
  price bigint,
  currency text,
  period_end timestamptz,
  cancels_at timestamptz,
  failing_since timestamptz,
  -- What the customer was given for it.
  entitlement text NOT NULL DEFAULT 'none' CHECK (entitlement IN ('plan', 'suspended', 'none')),
  -- The plan of that; another one is given when the provider has another.
  given_plan text,
  -- When the provider is asked, and the clock looked at. Null: it has ended.
  look_at timestamptz DEFAULT now(),
  made_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (provider, reference)
);
COMMENT ON TABLE paid_subscription IS 'Subscriptions at a payment provider, and what they give.';
CREATE INDEX paid_subscription_customer_idx ON paid_subscription (customer_id, product_id);
CREATE INDEX paid_subscription_look_idx ON paid_subscription (look_at) WHERE look_at IS NOT NULL;
