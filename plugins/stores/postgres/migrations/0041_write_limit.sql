-- Up Migration
-- How many changes a customer may ask for a minute (customers/customer-limits.ts); null means the default, as in migration 0023.

ALTER TABLE customer_limit ADD COLUMN writes_per_minute integer CHECK (writes_per_minute > 0);
