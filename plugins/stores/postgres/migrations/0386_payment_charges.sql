-- What each invoice of a payment provider came to, so that the seller's sums and lists need not read every event.

CREATE TABLE payment_charge (
  -- In the order in which they were heard of, for pages of lists.
  place bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  provider text NOT NULL,
  -- The provider's id.
  invoice text NOT NULL,
  paid_subscription_id uuid NOT NULL REFERENCES paid_subscription,
  currency text NOT NULL,
  -- In the currency's smallest unit.
  amount bigint NOT NULL,
  -- When it was first tried, and paid, in the provider's time. Null: not paid as far as is known.
  charged_at timestamptz NOT NULL,
  paid_at timestamptz,
  -- The provider's own page of it.
  url text,
  UNIQUE (provider, invoice)
);
COMMENT ON TABLE payment_charge IS 'What customers were charged by a payment provider, each invoice once. It follows from payment_fact.';
CREATE INDEX payment_charge_charged_idx ON payment_charge (charged_at);
CREATE INDEX payment_charge_subscription_idx ON payment_charge (paid_subscription_id);

INSERT INTO payment_charge (provider, invoice, paid_subscription_id, currency, amount, charged_at, paid_at, url)
SELECT f.provider, f.fact ->> 'invoice', p.id, f.fact ->> 'currency',
  (array_agg((f.fact ->> 'amount')::bigint ORDER BY f.fact ->> 'kind' = 'paid' DESC, f.at DESC))[1], min(f.at),
  min(f.at) FILTER (WHERE f.fact ->> 'kind' = 'paid'), max(f.fact ->> 'url')
FROM payment_fact f JOIN paid_subscription p ON p.provider = f.provider AND p.reference = f.paid_subscription
WHERE f.fact ->> 'kind' IN ('paid', 'failed') AND (f.fact ->> 'amount')::bigint > 0
GROUP BY f.provider, f.fact ->> 'invoice', p.id, f.fact ->> 'currency' ORDER BY min(f.at);
