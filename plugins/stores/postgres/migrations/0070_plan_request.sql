-- Up Migration
-- Plans that a customer asks for and an operator answers. The subscription stays as it is until then.

CREATE TABLE plan_request (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- Order of their making, for pages.
  number bigint GENERATED ALWAYS AS IDENTITY,
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  product_id text NOT NULL,
  plan_name text NOT NULL,
  -- What the customer agreed to: a plan that has changed since is not what was asked for.
  daily integer NOT NULL,
  monthly integer NOT NULL,
  price numeric(12, 2) NOT NULL,
  currency text NOT NULL,
  state text NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'approved', 'declined', 'withdrawn')),
  -- For the customer to read; empty unless it was declined.
  reason text NOT NULL DEFAULT '' CHECK (length(reason) <= 500),
  asked_at timestamptz NOT NULL DEFAULT now(),
  answered_at timestamptz,
  -- When the next attempt to tell the customer by mail is due; null when nothing is left to tell.
  tell_at timestamptz,
  CHECK ((state = 'open') = (answered_at IS NULL)),
  FOREIGN KEY (product_id, plan_name) REFERENCES plan (product_id, name)
);
CREATE UNIQUE INDEX plan_request_one_open ON plan_request (customer_id, product_id) WHERE state = 'open';
CREATE INDEX plan_request_open_idx ON plan_request (number) WHERE state = 'open';
CREATE INDEX plan_request_customer_idx ON plan_request (customer_id, product_id, number);
CREATE INDEX plan_request_tell_idx ON plan_request (tell_at) WHERE tell_at IS NOT NULL;

-- Whoever ends a subscription asks for nothing more of that product: an approval would bring it back, with its price. By a trigger, so
-- that every program that cancels does it.
CREATE FUNCTION withdraw_plan_requests() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE plan_request SET state = 'withdrawn', answered_at = now()
  WHERE customer_id = NEW.customer_id AND product_id = NEW.product_id AND state = 'open';
  RETURN NULL;
END $$;
CREATE TRIGGER subscription_cancel_withdraws AFTER UPDATE OF state ON subscription FOR EACH ROW
  WHEN (NEW.state = 'cancelled' AND OLD.state <> 'cancelled') EXECUTE FUNCTION withdraw_plan_requests();
