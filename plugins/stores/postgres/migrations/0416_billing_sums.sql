-- What the seller's page of billing shows by month: added up as invoices and charges come, because 100,000 customers have as many of them a month.

CREATE TABLE invoice_sum (
  month date NOT NULL,
  currency text NOT NULL,
  -- By which an open one is overdue.
  due_on date NOT NULL,
  state text NOT NULL CHECK (state IN ('open', 'paid', 'credited')),
  invoices bigint NOT NULL,
  -- In the currency's smallest unit.
  total numeric NOT NULL,
  PRIMARY KEY (month, currency, due_on, state)
);
COMMENT ON TABLE invoice_sum IS 'Invoices by month, added up. Written by triggers alone.';

CREATE FUNCTION add_invoice_sum(p_invoice uuid, p_state text, p_sign integer) RETURNS void LANGUAGE sql AS $$
  INSERT INTO invoice_sum AS known (month, currency, due_on, state, invoices, total)
  SELECT month, currency, due_on, p_state, p_sign, p_sign * total FROM invoice WHERE id = p_invoice
  ON CONFLICT (month, currency, due_on, state) DO UPDATE
    SET invoices = known.invoices + excluded.invoices, total = known.total + excluded.total
$$;
COMMENT ON FUNCTION add_invoice_sum IS 'Adds one invoice to the sums of a state, or takes it out.';

CREATE FUNCTION sum_invoices() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO invoice_sum AS known (month, currency, due_on, state, invoices, total)
  SELECT month, currency, due_on, 'open', count(*), sum(total) FROM added WHERE kind = 'invoice' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (month, currency, due_on, state) DO UPDATE
    SET invoices = known.invoices + excluded.invoices, total = known.total + excluded.total;
  PERFORM add_invoice_sum(a.corrects, CASE WHEN p.invoice_id IS NULL THEN 'open' ELSE 'paid' END, -1), add_invoice_sum(a.corrects, 'credited', 1)
    FROM added a LEFT JOIN invoice_payment p ON p.invoice_id = a.corrects WHERE a.kind = 'credit_note';
  RETURN NULL;
END $$;
COMMENT ON FUNCTION sum_invoices IS 'Adds up invoices that are issued, and those that a credit note takes back.';
REVOKE ALL ON FUNCTION sum_invoices() FROM PUBLIC;
CREATE TRIGGER invoice_is_summed AFTER INSERT ON invoice REFERENCING NEW TABLE AS added FOR EACH STATEMENT EXECUTE FUNCTION sum_invoices();

CREATE FUNCTION sum_invoice_payments() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  -- A credited one stays credited.
  PERFORM add_invoice_sum(invoice_id, 'open', -1), add_invoice_sum(invoice_id, 'paid', 1)
    FROM added WHERE NOT EXISTS (SELECT FROM invoice WHERE corrects = invoice_id);
  RETURN NULL;
END $$;
COMMENT ON FUNCTION sum_invoice_payments IS 'Adds up invoices that are paid.';
REVOKE ALL ON FUNCTION sum_invoice_payments() FROM PUBLIC;
CREATE TRIGGER invoice_payment_is_summed AFTER INSERT ON invoice_payment REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION sum_invoice_payments();

INSERT INTO invoice_sum (month, currency, due_on, state, invoices, total)
SELECT month, currency, due_on, state, count(*), sum(total) FROM (
  SELECT i.month, i.currency, i.due_on, i.total,
    CASE WHEN c.id IS NOT NULL THEN 'credited' WHEN p.invoice_id IS NOT NULL THEN 'paid' ELSE 'open' END AS state
  FROM invoice i LEFT JOIN invoice_payment p ON p.invoice_id = i.id LEFT JOIN invoice c ON c.corrects = i.id WHERE i.kind = 'invoice'
) AS known GROUP BY 1, 2, 3, 4;

CREATE TABLE payment_charge_sum (
  provider text NOT NULL,
  currency text NOT NULL,
  -- A quarter of an hour: days of every time zone begin with one.
  charged_at timestamptz NOT NULL,
  charges bigint NOT NULL,
  amount numeric NOT NULL,
  refunded numeric NOT NULL,
  PRIMARY KEY (provider, currency, charged_at)
);
COMMENT ON TABLE payment_charge_sum IS 'Charges that were paid, added up. Written by triggers alone. The others are few, and change by themselves.';
CREATE INDEX payment_charge_unpaid_idx ON payment_charge (charged_at) WHERE paid_at IS NULL;

CREATE FUNCTION sum_payment_charges() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO payment_charge_sum AS known (provider, currency, charged_at, charges, amount, refunded)
  SELECT provider, currency, date_bin('15 minutes', charged_at, 'epoch'), count(*), sum(amount), sum(refunded)
  FROM added WHERE paid_at IS NOT NULL GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
  ON CONFLICT (provider, currency, charged_at) DO UPDATE SET charges = known.charges + excluded.charges,
    amount = known.amount + excluded.amount, refunded = known.refunded + excluded.refunded;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION sum_payment_charges IS 'Adds up charges that are new and paid.';
CREATE FUNCTION sum_changed_charges() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
BEGIN
  INSERT INTO payment_charge_sum AS known (provider, currency, charged_at, charges, amount, refunded)
  SELECT provider, currency, date_bin('15 minutes', charged_at, 'epoch'), sum(sign), sum(sign * amount), sum(sign * refunded)
  FROM (SELECT 1 AS sign, * FROM added UNION ALL SELECT -1, * FROM gone) AS changed
  WHERE paid_at IS NOT NULL GROUP BY 1, 2, 3 HAVING (sum(sign), sum(sign * amount), sum(sign * refunded)) <> (0, 0, 0) ORDER BY 1, 2, 3
  ON CONFLICT (provider, currency, charged_at) DO UPDATE SET charges = known.charges + excluded.charges,
    amount = known.amount + excluded.amount, refunded = known.refunded + excluded.refunded;
  RETURN NULL;
END $$;
COMMENT ON FUNCTION sum_changed_charges IS 'Adds up what changed of charges that are paid.';
REVOKE ALL ON FUNCTION sum_payment_charges(), sum_changed_charges() FROM PUBLIC;
CREATE TRIGGER payment_charge_insert_is_summed AFTER INSERT ON payment_charge REFERENCING NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION sum_payment_charges();
CREATE TRIGGER payment_charge_update_is_summed AFTER UPDATE ON payment_charge REFERENCING OLD TABLE AS gone NEW TABLE AS added
  FOR EACH STATEMENT EXECUTE FUNCTION sum_changed_charges();

INSERT INTO payment_charge_sum (provider, currency, charged_at, charges, amount, refunded)
SELECT provider, currency, date_bin('15 minutes', charged_at, 'epoch'), count(*), sum(amount), sum(refunded)
FROM payment_charge WHERE paid_at IS NOT NULL GROUP BY 1, 2, 3;

-- Statements that are to be invoiced, in the order in which they are.
CREATE INDEX statement_month_idx ON statement (month, customer_id);
-- Overdue ones are few.
CREATE INDEX invoice_due_idx ON invoice (due_on);
