-- When the provider gave back what it gave back of a charge; null: nothing so far.
ALTER TABLE payment_charge ADD COLUMN refunded_at timestamptz;
UPDATE payment_charge c SET refunded_at = (
  SELECT max(f.at) FROM payment_fact f WHERE f.provider = c.provider AND f.fact ->> 'kind' = 'refunded' AND f.fact ->> 'invoice' = c.invoice
) WHERE refunded > 0;
