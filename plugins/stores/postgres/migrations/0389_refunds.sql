-- What the provider gave back of a charge so far, in the currency's smallest unit.
ALTER TABLE payment_charge ADD COLUMN refunded bigint NOT NULL DEFAULT 0;
