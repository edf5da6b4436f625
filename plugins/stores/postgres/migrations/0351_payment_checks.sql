-- What customers are told of payments, and comparisons with the payment provider.

CREATE TABLE payment_mail (
  paid_subscription_id uuid NOT NULL REFERENCES paid_subscription ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('paid', 'failed', 'grace_over')),
  -- The fact that it is about, so that each is told once.
  about text NOT NULL,
  asked_at timestamptz NOT NULL DEFAULT now(),
  -- When the next attempt is due. Null: it was sent, or is no longer true.
  tell_at timestamptz DEFAULT now(),
  PRIMARY KEY (paid_subscription_id, kind, about)
);
COMMENT ON TABLE payment_mail IS 'What a customer is told of its payments, each once.';
CREATE INDEX payment_mail_tell_idx ON payment_mail (tell_at) WHERE tell_at IS NOT NULL;

CREATE TABLE payment_check (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  asked_at timestamptz NOT NULL DEFAULT now(),
  -- A process is at it until then. Null: nobody is.
  taken_until timestamptz,
  done_at timestamptz,
  -- What differed from the provider, and was mended. Null until it is done.
  report jsonb
);
COMMENT ON TABLE payment_check IS 'Comparisons of every paid subscription with its provider: one a night, and on demand.';
CREATE INDEX payment_check_open_idx ON payment_check (asked_at) WHERE done_at IS NULL;
