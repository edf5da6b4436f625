-- Up Migration
-- Tags on keys, and lists of keys by product, tag, mode and state, by name and expiry: a page reads the rows that it shows. Indexes are
-- built in the migration's transaction: who makes or changes keys waits meanwhile; who calls with them does not.

-- Words by which a customer tells keys apart. They decide nothing, so that no node is told of them.
CREATE TABLE credential_tag (
  credential_id uuid NOT NULL REFERENCES credential ON DELETE CASCADE,
  tag text NOT NULL CHECK (length(tag) BETWEEN 1 AND 40),
  -- As the key has them, see keep_key_order.
  customer_id uuid,
  created_at timestamptz,
  PRIMARY KEY (credential_id, tag)
);
CREATE INDEX credential_tag_order_idx ON credential_tag (customer_id, tag, created_at DESC, credential_id DESC);

ALTER TABLE credential_product ADD COLUMN customer_id uuid, ADD COLUMN created_at timestamptz;

-- Whose a key is and when it was made never change: kept with its products and tags, they make lists of these come in order from an index.
CREATE FUNCTION keep_key_order() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  SELECT k.customer_id, k.created_at INTO NEW.customer_id, NEW.created_at FROM credential k WHERE k.id = NEW.credential_id;
  RETURN NEW;
END $$;
CREATE TRIGGER credential_product_order BEFORE INSERT ON credential_product FOR EACH ROW EXECUTE FUNCTION keep_key_order();
CREATE TRIGGER credential_tag_order BEFORE INSERT ON credential_tag FOR EACH ROW EXECUTE FUNCTION keep_key_order();

-- Without telling every node that every key has changed.
ALTER TABLE credential_product DISABLE TRIGGER USER;
UPDATE credential_product p SET customer_id = k.customer_id, created_at = k.created_at FROM credential k WHERE k.id = p.credential_id;
ALTER TABLE credential_product ENABLE TRIGGER USER;
CREATE INDEX credential_product_order_idx ON credential_product (customer_id, product_id, created_at DESC, credential_id DESC);

CREATE INDEX credential_mode_order_idx ON credential (customer_id, mode, created_at DESC, id DESC);
CREATE INDEX credential_state_order_idx ON credential (customer_id, state, created_at DESC, id DESC);
-- Keys without a name come last, and those that never expire.
CREATE INDEX credential_name_order_idx
  ON credential (customer_id, (CASE WHEN name IS NULL THEN '1' ELSE '0' || lower(name) END) COLLATE "C", id);
CREATE INDEX credential_expiry_order_idx ON credential (customer_id, (COALESCE(expires_at, 'infinity')), id);
-- Room for `last_used_at`, which is written all the time and is in no index: such a row stays in its page, and no index is written.
ALTER TABLE credential SET (fillfactor = 80);
