-- The console's list of customers, stored so that a page of it reads only the lines that it shows.

CREATE TABLE customer_listing (
  -- `all`, `state:active`, `product:weather`: each list that a customer is in has its own line.
  list text NOT NULL,
  customer_id uuid NOT NULL REFERENCES customer ON DELETE CASCADE,
  email text NOT NULL,
  name text,
  created_at timestamptz NOT NULL,
  state text NOT NULL CHECK (state IN ('active', 'idle', 'leaving', 'suspended')),
  -- In the pages' form. Null: the customer is not suspended.
  suspended jsonb,
  -- `[{product, plan, state}]`, without cancelled subscriptions.
  plans jsonb NOT NULL,
  -- Monthly prices of active subscriptions, `[{currency, amount}]`, and the largest of these amounts, for the order.
  rates jsonb NOT NULL,
  rate numeric NOT NULL,
  -- Admitted requests in the 30 days up to counted_on, and how many more these are than in the 30 days before.
  used bigint NOT NULL,
  growth bigint NOT NULL,
  -- The last day with an admitted request; -infinity: none is known.
  last_seen_on date NOT NULL,
  -- Days in the quota time zone.
  counted_on date NOT NULL,
  counted_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (list, customer_id)
);
COMMENT ON TABLE customer_listing IS 'Customers as the console lists them. Derived from other tables by the dashboard''s jobs, and before '
  'a list is shown.';
CREATE INDEX customer_listing_customer_idx ON customer_listing (customer_id);
CREATE INDEX customer_listing_email_idx ON customer_listing (list, (lower(email) COLLATE "C"), customer_id);
CREATE INDEX customer_listing_created_idx ON customer_listing (list, created_at, customer_id);
CREATE INDEX customer_listing_used_idx ON customer_listing (list, used, customer_id);
CREATE INDEX customer_listing_growth_idx ON customer_listing (list, growth, customer_id);
CREATE INDEX customer_listing_rate_idx ON customer_listing (list, rate, customer_id);
CREATE INDEX customer_listing_seen_idx ON customer_listing (list, last_seen_on, customer_id);
-- Lines whose counts change as days go by.
CREATE INDEX customer_listing_stale_idx ON customer_listing (counted_on)
  WHERE list = 'all' AND (used > 0 OR growth <> 0 OR state = 'leaving');

CREATE TABLE customer_changed (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  customer_id uuid NOT NULL
);
COMMENT ON TABLE customer_changed IS 'Customers whose lines in customer_listing are out of date. Rows are only added, so that no change '
  'waits for another.';

CREATE FUNCTION note_changed_customers() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO customer_changed (customer_id)
  SELECT DISTINCT (to_jsonb(changed) ->> TG_ARGV[0])::uuid FROM changed WHERE to_jsonb(changed) ->> TG_ARGV[0] IS NOT NULL;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION note_changed_customers() IS 'Notes customers whose lines in customer_listing are out of date. Its argument names the '
  'column with the customer.';
REVOKE ALL ON FUNCTION note_changed_customers() FROM PUBLIC;

CREATE FUNCTION forget_customer_listing() RETURNS trigger LANGUAGE plpgsql
SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  DELETE FROM customer_listing WHERE customer_id = NEW.id;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION forget_customer_listing() IS 'Removes an old address and name from the list at once: they may be the data to erase.';
REVOKE ALL ON FUNCTION forget_customer_listing() FROM PUBLIC;

CREATE TRIGGER customer_update_leaves_list AFTER UPDATE OF email, display_name ON customer FOR EACH ROW EXECUTE FUNCTION forget_customer_listing();
CREATE TRIGGER customer_insert_listed AFTER INSERT ON customer
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('id');
CREATE TRIGGER customer_update_listed AFTER UPDATE ON customer
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('id');
CREATE TRIGGER suspension_insert_listed AFTER INSERT ON suspension
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');
CREATE TRIGGER suspension_update_listed AFTER UPDATE ON suspension
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');
CREATE TRIGGER suspension_delete_listed AFTER DELETE ON suspension
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');
CREATE TRIGGER subscription_term_insert_listed AFTER INSERT ON subscription_term
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');
CREATE TRIGGER subscription_term_update_listed AFTER UPDATE ON subscription_term
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');
CREATE TRIGGER account_deletion_insert_listed AFTER INSERT ON account_deletion
  REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');
CREATE TRIGGER account_deletion_delete_listed AFTER DELETE ON account_deletion
  REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION note_changed_customers('customer_id');

CREATE TABLE business_figures (
  is_only boolean PRIMARY KEY DEFAULT true CHECK (is_only),
  at timestamptz NOT NULL DEFAULT now(),
  content jsonb NOT NULL
);
COMMENT ON TABLE business_figures IS 'One row: the figures of all customers on the console''s first page, as last added up.';
