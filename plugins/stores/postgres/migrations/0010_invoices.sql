-- Invoices: numbered without gaps, issued for closed statements or for payments, never changed. With open amounts, and payments by other
-- means.

CREATE TABLE billing_details (
  customer_id uuid PRIMARY KEY REFERENCES customer ON DELETE CASCADE,
  name text NOT NULL,
  address text[] NOT NULL,
  -- ISO 3166-1.
  country text NOT NULL CHECK (country ~ '^[A-Z]{2}$'),
  -- State code of GST. Null outside India.
  state text,
  tax_id text,
  -- Address that invoices are mailed to. Null: the customer's.
  email text,
  updated_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE billing_details IS 'The billing details of a customer''s next invoices. Issued invoices keep theirs.';

CREATE FUNCTION erase_billing_details() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM outbox_mail WHERE lower(recipient) = (SELECT lower(email) FROM billing_details WHERE customer_id = NEW.customer_id);
  DELETE FROM billing_details WHERE customer_id = NEW.customer_id;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION erase_billing_details IS 'Erases the billing details together with the account. Invoices stay, because the law '
  'requires it.';
CREATE TRIGGER account_deletion_erases_billing_details AFTER UPDATE OF erased_at ON account_deletion FOR EACH ROW
  WHEN (NEW.erased_at IS NOT NULL) EXECUTE FUNCTION erase_billing_details();

CREATE TABLE invoice_series (
  name text PRIMARY KEY,
  last bigint NOT NULL CHECK (last > 0)
);
COMMENT ON TABLE invoice_series IS 'The last number of each series. Its row is locked until the invoice has committed, so that a rollback leaves no gap.';

CREATE TABLE invoice (
  id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  -- The order of issue, for pages.
  place bigint GENERATED ALWAYS AS IDENTITY,
  series text NOT NULL REFERENCES invoice_series,
  -- Number within the series, from 1. With the series it forms the printed `number`.
  serial bigint NOT NULL,
  number text NOT NULL UNIQUE,
  kind text NOT NULL CHECK (kind IN ('invoice', 'credit_note')),
  -- No foreign key: invoices outlive the customer.
  customer_id uuid NOT NULL,
  month date NOT NULL CHECK (extract(day FROM month) = 1),
  currency text NOT NULL CHECK (currency ~ '^[A-Z]{3}$'),
  -- Above 1 for an invoice that was issued anew after a credit note.
  edition integer NOT NULL DEFAULT 1 CHECK (edition > 0),
  -- In the currency's smallest unit; never negative, not even on credit notes.
  total bigint NOT NULL CHECK (total >= 0),
  issued_at timestamptz NOT NULL DEFAULT now(),
  due_on date NOT NULL,
  -- For a credit note: the invoice that it takes back, and the reason.
  corrects uuid REFERENCES invoice,
  reason text NOT NULL DEFAULT '' CHECK (length(reason) <= 500),
  -- As services/selling/billing/invoice.ts composed it.
  content jsonb NOT NULL,
  -- For a payment: the provider that confirmed it, its id there, and the amount refunded by then: 0 on its invoice, more on each credit
  -- note.
  provider text,
  payment text,
  refunded_to bigint,
  UNIQUE (series, serial),
  UNIQUE (provider, payment, refunded_to),
  CHECK ((kind = 'credit_note') = (corrects IS NOT NULL)),
  CHECK (num_nulls(provider, payment, refunded_to) IN (0, 3)),
  CHECK ((kind = 'credit_note') = (refunded_to > 0))
);
COMMENT ON TABLE invoice IS 'Invoices and credit notes, as issued. Never changed and never deleted.';
CREATE UNIQUE INDEX invoice_once ON invoice (customer_id, month, currency, edition) WHERE kind = 'invoice' AND payment IS NULL;
-- One credit note takes back the whole of an invoice; credit notes of a payment take back the refunded amounts.
CREATE UNIQUE INDEX invoice_credited_once ON invoice (corrects) WHERE payment IS NULL;
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
COMMENT ON FUNCTION refuse_invoice_change IS 'Refuses every change of an invoice, and of a recorded payment.';
CREATE TRIGGER invoice_is_final BEFORE UPDATE OR DELETE ON invoice FOR EACH STATEMENT EXECUTE FUNCTION refuse_invoice_change();

CREATE TABLE invoice_payment (
  invoice_id uuid PRIMARY KEY REFERENCES invoice,
  paid_on date NOT NULL,
  -- For example the reference of the bank transfer.
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
COMMENT ON TABLE statement_billed IS 'Statements that were invoiced, or had no amount due.';

-- Statements to be invoiced, in the order of invoicing.
CREATE INDEX statement_month_idx ON statement (month, customer_id);
-- For overdue invoices, which are few.
CREATE INDEX invoice_due_idx ON invoice (due_on);

-- The seller's billing page shows these sums by month. They are added up as invoices are issued, because 100,000 customers have as many
-- invoices a month.

CREATE TABLE invoice_sum (
  month date NOT NULL,
  currency text NOT NULL,
  -- An open invoice is overdue after this day.
  due_on date NOT NULL,
  state text NOT NULL CHECK (state IN ('open', 'paid', 'credited')),
  invoices bigint NOT NULL,
  -- In the currency's smallest unit.
  total numeric NOT NULL,
  PRIMARY KEY (month, currency, due_on, state)
);
COMMENT ON TABLE invoice_sum IS 'Sums of invoices of closed statements by month. Written by triggers alone.';

CREATE FUNCTION add_invoice_sum(p_invoice uuid, p_state text, p_sign integer) RETURNS void LANGUAGE sql AS $$
  INSERT INTO invoice_sum AS known (month, currency, due_on, state, invoices, total)
  SELECT month, currency, due_on, p_state, p_sign, p_sign * total FROM invoice WHERE id = p_invoice
  ON CONFLICT (month, currency, due_on, state) DO UPDATE
    SET invoices = known.invoices + excluded.invoices, total = known.total + excluded.total
$$;
COMMENT ON FUNCTION add_invoice_sum IS 'Adds one invoice to the sums of a state, or subtracts it.';

CREATE FUNCTION sum_invoices() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO invoice_sum AS known (month, currency, due_on, state, invoices, total)
  SELECT month, currency, due_on, 'open', count(*), sum(total) FROM added WHERE kind = 'invoice' AND payment IS NULL
  GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (month, currency, due_on, state) DO UPDATE
    SET invoices = known.invoices + excluded.invoices, total = known.total + excluded.total;
  PERFORM add_invoice_sum(a.corrects, CASE WHEN p.invoice_id IS NULL THEN 'open' ELSE 'paid' END, -1), add_invoice_sum(a.corrects, 'credited', 1)
    FROM added a LEFT JOIN invoice_payment p ON p.invoice_id = a.corrects WHERE a.kind = 'credit_note' AND a.payment IS NULL;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION sum_invoices IS 'Adds issued invoices to the sums, and those that a credit note takes back.';
REVOKE ALL ON FUNCTION sum_invoices() FROM PUBLIC;
CREATE TRIGGER invoice_is_summed AFTER INSERT ON invoice REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION sum_invoices();

CREATE FUNCTION sum_invoice_payments() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  -- A credited invoice stays credited. Payments at a provider are added up by their charges.
  PERFORM add_invoice_sum(invoice_id, 'open', -1), add_invoice_sum(invoice_id, 'paid', 1)
    FROM added WHERE NOT EXISTS (SELECT FROM invoice WHERE id = invoice_id AND payment IS NOT NULL OR corrects = invoice_id AND payment IS NULL);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION sum_invoice_payments IS 'Adds paid invoices to the sums.';
REVOKE ALL ON FUNCTION sum_invoice_payments() FROM PUBLIC;
CREATE TRIGGER invoice_payment_is_summed AFTER INSERT ON invoice_payment REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION sum_invoice_payments();

-- Of all invoices ever issued, few are unpaid. They have a list of their own, so that the seller's page need not search for them.

CREATE TABLE invoice_unpaid (
  -- The invoice's place, by which pages are ordered.
  place bigint PRIMARY KEY,
  invoice_id uuid NOT NULL UNIQUE REFERENCES invoice,
  due_on date NOT NULL
);
COMMENT ON TABLE invoice_unpaid IS 'Invoices that are neither paid nor credited. Written by triggers alone.';

CREATE FUNCTION keep_unpaid_invoices() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO invoice_unpaid (place, invoice_id, due_on) SELECT place, id, due_on FROM added WHERE kind = 'invoice' AND payment IS NULL;
  DELETE FROM invoice_unpaid WHERE invoice_id IN (SELECT corrects FROM added WHERE kind = 'credit_note');
  RETURN NULL;
END $$;
COMMENT ON FUNCTION keep_unpaid_invoices IS 'Lists issued invoices as unpaid, and removes those that a credit note takes back.';
CREATE TRIGGER invoice_is_unpaid AFTER INSERT ON invoice REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION keep_unpaid_invoices();

CREATE FUNCTION remove_paid_invoices() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  DELETE FROM invoice_unpaid WHERE invoice_id IN (SELECT invoice_id FROM added);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION remove_paid_invoices IS 'Removes invoices that are paid from the list of unpaid ones.';
CREATE TRIGGER invoice_is_paid AFTER INSERT ON invoice_payment REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION remove_paid_invoices();
REVOKE ALL ON FUNCTION keep_unpaid_invoices(), remove_paid_invoices() FROM PUBLIC;
