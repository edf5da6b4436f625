-- Up Migration
-- The catalogue is data: what a product is besides its limits, which products are still sold, and what a plan costs in any currency.

ALTER TABLE product
  -- False: listed, and that is all.
  ADD COLUMN subscribable boolean NOT NULL DEFAULT true,
  -- False once the catalogue has it no longer: it is not sold any more, and who has it keeps it as long as it has a route.
  ADD COLUMN active boolean NOT NULL DEFAULT true,
  -- Prefix, routes, the order of its plans and whatever else the catalogue says; null as long as no version wrote it that knows it.
  ADD COLUMN definition jsonb;
UPDATE product SET subscribable = false WHERE daily IS NULL;

ALTER TABLE plan
  ADD COLUMN price numeric(12, 2) CHECK (price >= 0),
  ADD COLUMN currency text NOT NULL DEFAULT 'INR' CHECK (currency ~ '^[A-Z]{3}$'),
  ADD COLUMN approval text NOT NULL DEFAULT 'automatic' CHECK (approval IN ('automatic', 'request')),
  -- Read by older versions only, which know no other currency.
  ALTER COLUMN price_inr SET DEFAULT 0;
UPDATE plan SET price = price_inr;

CREATE OR REPLACE FUNCTION check_subscribable() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT 1 FROM product WHERE id = NEW.product_id AND NOT (active AND subscribable AND daily IS NOT NULL)) THEN
    RAISE EXCEPTION 'the product cannot be subscribed to'
      USING ERRCODE = 'check_violation', CONSTRAINT = 'subscription_product_has_limits';
  END IF;
  RETURN NEW;
END $$;

-- Raised with every change of products and plans, so that whoever keeps a copy asks one row whether it is still true.
CREATE TABLE catalogue_revision (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  revision bigint NOT NULL,
  -- Products in the order in which they are shown; not a column of theirs, or one more product would be a change of all after it.
  product_order text[] NOT NULL
);
INSERT INTO catalogue_revision (revision, product_order) VALUES (1, '{}');
