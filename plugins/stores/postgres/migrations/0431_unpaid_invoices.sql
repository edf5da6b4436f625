-- Of all invoices that were ever issued, few are unpaid: they stand in a list of their own, so that the seller's page need not look for them.

CREATE TABLE invoice_unpaid (
  -- The invoice's, by which pages are ordered.
  place bigint PRIMARY KEY,
  invoice_id uuid NOT NULL UNIQUE REFERENCES invoice,
  due_on date NOT NULL
);
COMMENT ON TABLE invoice_unpaid IS 'Invoices that are neither paid nor credited. Written by triggers alone.';

CREATE FUNCTION keep_unpaid_invoices() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO invoice_unpaid (place, invoice_id, due_on) SELECT place, id, due_on FROM added WHERE kind = 'invoice';
  DELETE FROM invoice_unpaid WHERE invoice_id IN (SELECT corrects FROM added WHERE kind = 'credit_note');
  RETURN NULL;
END $$;
COMMENT ON FUNCTION keep_unpaid_invoices IS 'Lists invoices that are issued, and takes out those that a credit note takes back.';
CREATE TRIGGER invoice_is_unpaid AFTER INSERT ON invoice REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION keep_unpaid_invoices();

CREATE FUNCTION remove_paid_invoices() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  DELETE FROM invoice_unpaid WHERE invoice_id IN (SELECT invoice_id FROM added);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION remove_paid_invoices IS 'Takes out invoices that are paid.';
CREATE TRIGGER invoice_is_paid AFTER INSERT ON invoice_payment REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION remove_paid_invoices();
REVOKE ALL ON FUNCTION keep_unpaid_invoices(), remove_paid_invoices() FROM PUBLIC;

INSERT INTO invoice_unpaid (place, invoice_id, due_on)
SELECT place, id, due_on FROM invoice i
WHERE kind = 'invoice' AND NOT EXISTS (SELECT FROM invoice_payment p WHERE p.invoice_id = i.id) AND NOT EXISTS (SELECT FROM invoice c WHERE c.corrects = i.id);
