-- A plan that begins with the next period, and what customers are shown before they agree to another plan.
ALTER TABLE paid_subscription ADD COLUMN next_plan text, ADD COLUMN next_price bigint;

CREATE TABLE plan_preview (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  paid_subscription_id uuid NOT NULL REFERENCES paid_subscription ON DELETE CASCADE,
  plan_name text NOT NULL,
  price bigint NOT NULL,
  terms jsonb NOT NULL,
  held jsonb NOT NULL,
  change jsonb NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  accepted_at timestamptz
);
CREATE INDEX plan_preview_subscription_idx ON plan_preview (paid_subscription_id, accepted_at);
COMMENT ON TABLE plan_preview IS 'What a customer was shown before it agreed to another plan; each is accepted once.';
