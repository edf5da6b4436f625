-- Up Migration
-- What the operators' pages read and write. Indexes are built in the migration's transaction: writers of these tables wait meanwhile.

-- Customers by the beginning of their address, in the order of its bytes: one index finds and orders them.
CREATE INDEX customer_email_order_idx ON customer (lower(email) COLLATE "C");
CREATE INDEX credential_last_four_idx ON credential (last_four, id) WHERE last_four <> '';

-- Refused requests of everybody, newest first.
CREATE INDEX decision_refused_idx ON decision (at, request_id) WHERE outcome <> 'admitted';

-- The audit log by who did it, and by what was done.
CREATE INDEX audit_log_actor_idx ON audit_log (actor, id);
CREATE INDEX audit_log_action_idx ON audit_log (action, id);

-- What operators write down about a customer, for operators only. Only ever appended to.
CREATE TABLE customer_note (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  number bigint GENERATED ALWAYS AS IDENTITY,
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  at timestamptz NOT NULL DEFAULT now(),
  -- E-mail address of the operator.
  author text NOT NULL,
  text text NOT NULL CHECK (length(text) BETWEEN 1 AND 2000)
);
CREATE INDEX customer_note_customer_idx ON customer_note (customer_id, number);

-- Why an operator set a subscription's limits, and until when. When that is over the limits go, see end-limits.ts.
CREATE TABLE subscription_limit_term (
  subscription_id uuid PRIMARY KEY REFERENCES subscription ON DELETE CASCADE,
  reason text NOT NULL CHECK (length(reason) BETWEEN 1 AND 500),
  set_by text NOT NULL,
  -- Null: for good.
  ends_at timestamptz
);
CREATE INDEX subscription_limit_term_end_idx ON subscription_limit_term (ends_at) WHERE ends_at IS NOT NULL;

-- Live use by product and plan, added up a day at a time: the operators' page of products would read millions of rows otherwise.
CREATE TABLE product_day (
  -- In the quota time zone.
  day date NOT NULL,
  product_id text NOT NULL,
  -- Empty: base limits.
  plan_name text NOT NULL,
  charged bigint NOT NULL,
  refunded bigint NOT NULL,
  -- Customers who used it that day.
  customers integer NOT NULL,
  -- Active at the end of the day; null for days that were added up later.
  subscriptions integer,
  PRIMARY KEY (day, product_id, plan_name)
);
