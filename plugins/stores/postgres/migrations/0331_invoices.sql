-- Invoices: numbered without gaps, made from closed statements, never changed.

-- `billing` of catalogue.yml. Null: customers are not invoiced.
ALTER TABLE catalogue_revision ADD COLUMN billing jsonb;

CREATE TABLE billing_details (
  customer_id uuid PRIMARY KEY REFERENCES customer ON DELETE CASCADE,
  name text NOT NULL,
  address text[] NOT NULL,
  -- ISO 3166-1.
  country text NOT NULL CHECK (country ~ '^[A-Z]{2}$'),
  -- State code of GST. Null outside India.
  state text,
  tax_id text,
  -- Where invoices are mailed. Null: to the customer.
  email text,
  updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE billing_details IS 'To whom a customer''s next invoices are made out. Those that were issued keep what they say.';

CREATE FUNCTION erase_billing_details() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM outbox_mail WHERE lower(recipient) = (SELECT lower(email) FROM billing_details WHERE customer_id = NEW.customer_id);
  DELETE FROM billing_details WHERE customer_id = NEW.customer_id;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION erase_billing_details IS 'Erases the details for invoices together with the account. Invoices stay: the law wants them kept.';
CREATE TRIGGER account_deletion_erases_billing_details AFTER UPDATE OF erased_at ON account_deletion FOR EACH ROW
  WHEN (NEW.erased_at IS NOT NULL) EXECUTE FUNCTION erase_billing_details();

CREATE TABLE invoice_series (
  name text PRIMARY KEY,
  last bigint NOT NULL CHECK (last > 0)
);
COMMENT ON TABLE invoice_series IS 'The last number of each series. Its row is locked until the invoice has committed, so that a rollback leaves no gap.';

CREATE TABLE invoice (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- The order in which they were issued, for pages.
  place bigint GENERATED ALWAYS AS IDENTITY,
  series text NOT NULL REFERENCES invoice_series,
  -- Within the series, from 1. Together they are `number`, as it is printed.
  serial bigint NOT NULL,
  number text NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('invoice', 'credit_note')),
  -- No foreign key: invoices outlive the customer.
  customer_id uuid NOT NULL,
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  -- Above 1: a credited invoice was issued anew.
  edition integer NOT NULL DEFAULT 1 CHECK (edition > 0),
  -- In the currency's smallest unit; not negative, also of credit notes.
  total bigint NOT NULL CHECK (total >= 0),
  issued_at timestamptz NOT NULL DEFAULT now(),
  due_on date NOT NULL,
  -- Of a credit note: the invoice that it takes back, and why.
  corrects uuid UNIQUE REFERENCES invoice,
  reason text NOT NULL DEFAULT '' CHECK (length(reason) <= 500),
  -- As services/selling/billing/invoice.ts composed it.
  content jsonb NOT NULL,
  UNIQUE (series, serial),
  CHECK ((kind = 'credit_note') = (corrects IS NOT NULL))
);
COMMENT ON TABLE invoice IS 'Invoices and credit notes as they were issued. Never changed and never deleted.';
CREATE UNIQUE INDEX invoice_once ON invoice (customer_id, month, currency, edition) WHERE kind = 'invoice';
CREATE INDEX invoice_customer_idx ON invoice (customer_id, place);
CREATE INDEX invoice_month_idx ON invoice (month, place);
CREATE UNIQUE INDEX invoice_place_idx ON invoice (place);

CREATE FUNCTION number_invoice() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO invoice_series AS s (name, last) VALUES (NEW.series, 1)
    ON CONFLICT (name) DO UPDATE SET last = s.last + 1 RETURNING last INTO NEW.serial;
  NEW.number := NEW.series || '-' || lpad(NEW.serial::text, GREATEST(6, length(NEW.serial::text)), '0');
  RETURN NEW;
END $$;
COMMENT ON FUNCTION number_invoice IS 'Gives an invoice the next number of its series, in the transaction that issues it.';
CREATE TRIGGER invoice_is_numbered BEFORE INSERT ON invoice FOR EACH ROW EXECUTE FUNCTION number_invoice();
REVOKE ALL ON FUNCTION number_invoice() FROM PUBLIC;

CREATE FUNCTION refuse_invoice_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'an invoice stays as it was issued' USING ERRCODE = 'check_violation', CONSTRAINT = 'invoice_is_final';
END $$;
COMMENT ON FUNCTION refuse_invoice_change IS 'Refuses every change of an invoice, and of a payment that was noted.';
CREATE TRIGGER invoice_is_final BEFORE UPDATE OR DELETE ON invoice FOR EACH STATEMENT EXECUTE FUNCTION refuse_invoice_change();

CREATE TABLE invoice_payment (
  invoice_id uuid PRIMARY KEY REFERENCES invoice,
  paid_on date NOT NULL,
  -- For example of the bank transfer.
  reference text NOT NULL DEFAULT '' CHECK (length(reference) <= 200),
  noted_at timestamptz NOT NULL DEFAULT now(),
  noted_by text NOT NULL
);
COMMENT ON TABLE invoice_payment IS 'Invoices that were paid in full.';
CREATE TRIGGER invoice_payment_is_final BEFORE UPDATE OR DELETE ON invoice_payment
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_invoice_change();

CREATE TABLE statement_billed (
  customer_id uuid NOT NULL,
  month date NOT NULL,
  PRIMARY KEY (customer_id, month),
  FOREIGN KEY (customer_id, month) REFERENCES statement
);
COMMENT ON TABLE statement_billed IS 'Statements that were turned into invoices, or had nothing to be paid.';

CREATE TABLE invoice_mail (
  invoice_id uuid NOT NULL REFERENCES invoice,
  kind text NOT NULL CHECK (kind IN ('issued', 'overdue', 'paid', 'credited')),
  asked_at timestamptz NOT NULL DEFAULT now(),
  -- When the next attempt is due. Null: it was sent.
  tell_at timestamptz DEFAULT now(),
  PRIMARY KEY (invoice_id, kind)
);
COMMENT ON TABLE invoice_mail IS 'What a customer is told of an invoice, each once.';
CREATE INDEX invoice_mail_tell_idx ON invoice_mail (tell_at) WHERE tell_at IS NOT NULL;
