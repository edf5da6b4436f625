-- The catalogue: what is sold, with its limits and prices. kong/catalogue.yml is written into these tables at every start.

CREATE TABLE product (
  id text PRIMARY KEY CHECK (id ~ '^[a-z][a-z0-9-]*$'),
  title text NOT NULL,
  description text NOT NULL,
  -- Requests a day and a month without a plan. Null: nobody can subscribe to the product.
  daily integer CHECK (daily >= 0),
  monthly integer CHECK (monthly >= 0),
  -- {"limit": 10, "windowSeconds": 1, "burst": 20}: the rate at which requests may come without a plan. Null: no rate limit.
  rate jsonb,
  -- False: the product is listed, but nobody can subscribe to it.
  subscribable boolean NOT NULL DEFAULT true,
  -- False once the catalogue no longer has the product. Customers who have it keep it while it has a route.
  active boolean NOT NULL DEFAULT true,
  -- Prefix, routes, the order of its plans and everything else that the catalogue says.
  definition jsonb,
  CHECK ((daily IS NULL) = (monthly IS NULL))
);
COMMENT ON TABLE product IS 'An API that is or was sold.';

CREATE TABLE plan (
  product_id text NOT NULL REFERENCES product,
  name text NOT NULL CHECK (name <> ''),
  daily integer NOT NULL CHECK (daily >= 0),
  monthly integer NOT NULL CHECK (monthly >= 0),
  -- As written, with the decimals of the currency.
  price numeric NOT NULL CHECK (price >= 0),
  currency text NOT NULL DEFAULT 'INR' CHECK (currency ~ '^[A-Z]{3}$'),
  -- request: an operator decides on each customer's request.
  approval text NOT NULL DEFAULT 'automatic' CHECK (approval IN ('automatic', 'request')),
  -- False once the catalogue no longer offers the plan. Subscriptions on it keep its limits.
  active boolean NOT NULL DEFAULT true,
  -- Use above the limits, for a price: {"per": 1000, "price": "20.00", "daily": 10000, "monthly": 300000}. Its daily and monthly are what
  -- the price includes. The plan's daily and monthly are then the cap at which requests are refused. Null: nothing is sold above the
  -- limits.
  overage jsonb,
  -- As in product. The product's rate does not apply to a plan.
  rate jsonb,
  PRIMARY KEY (product_id, name)
);
COMMENT ON TABLE plan IS 'Limits of a product, and their price for a month.';

CREATE TABLE catalogue_revision (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  revision bigint NOT NULL,
  -- Products in display order. If this were a column of product, one new product would change every product after it.
  product_order text[] NOT NULL,
  -- {"file": "kong/catalogue.yml", "lines": {"api-ip": 12}}. Null: the last catalogue that was applied came from no file.
  source jsonb,
  -- `billing` of catalogue.yml. Null: customers are not invoiced.
  billing jsonb
);
COMMENT ON TABLE catalogue_revision IS 'One row, raised with every change of products and plans: one number shows whether a copy of the '
  'catalogue is current.';
INSERT INTO catalogue_revision (revision, product_order) VALUES (1, '{}');

CREATE TABLE product_document (
  product_id text PRIMARY KEY REFERENCES product ON DELETE CASCADE,
  -- JSON, stored as text: jsonb sorts members, and their order is the author's.
  document text NOT NULL
);
COMMENT ON TABLE product_document IS 'The OpenAPI document of a product, as it was when the catalogue was applied.';

-- Every node is notified of changes when they commit -------------------------------------------------------------------------------

CREATE FUNCTION tell_product_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tollgate_changes', json_build_object('product', COALESCE(NEW.id, OLD.id))::text);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_product_change IS 'Notifies every node that a product changed.';
CREATE TRIGGER product_tells AFTER INSERT OR UPDATE OR DELETE ON product FOR EACH ROW EXECUTE FUNCTION tell_product_change();

CREATE FUNCTION tell_plan_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify(
    'tollgate_changes',
    json_build_object('plan', COALESCE(NEW.name, OLD.name), 'product', COALESCE(NEW.product_id, OLD.product_id))::text
  );
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_plan_change IS 'Notifies every node that a plan changed.';
CREATE TRIGGER plan_tells AFTER INSERT OR UPDATE OR DELETE ON plan FOR EACH ROW EXECUTE FUNCTION tell_plan_change();

CREATE FUNCTION tell_truncate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM pg_notify('tollgate_changes', '{"everything":true}');
  RETURN NULL;
END $$;
COMMENT ON FUNCTION tell_truncate IS 'Notifies every node to forget everything that it knows: TRUNCATE names no rows.';
CREATE TRIGGER product_truncate_tells AFTER TRUNCATE ON product EXECUTE FUNCTION tell_truncate();
CREATE TRIGGER plan_truncate_tells AFTER TRUNCATE ON plan EXECUTE FUNCTION tell_truncate();
