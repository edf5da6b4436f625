import { type Pool, type PoolClient } from 'pg';
import { type InvoicingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { inTransaction } from '../../../plugins/stores/postgres/database';
import { enqueue, type InvoiceNews } from '../outbox/outbox';
import { findBillingDetails } from './billing-details';
import { type InvoiceContent } from './invoice';
import { type IssueOptions, type Unbilled } from './issue-invoices';
import { composePaymentInvoice, composeRefund, type ConfirmedPayment } from './payment-invoice';

const AT_ONCE = 200;
/** Concurrent questions to a provider about payments: ten times as fast as one after the other. */
const ASKED_AT_ONCE = 10;
/** The reason on a credit note for a refund that the seller made at the provider. */
const NO_REASON = 'your payment went back';

/** Payments since the first invoiced month, except those that could not be invoiced. */
const WAITING = `
SELECT c.place::text AS place, c.provider, c.invoice AS payment, c.billed IS NULL AS "isNew", p.customer_id AS "customerId",
  to_char(c.paid_at AT TIME ZONE $2, 'YYYY-MM') AS month
FROM payment_charge c JOIN paid_subscription p ON p.id = c.paid_subscription_id
WHERE c.paid_at >= ($1 || '-01')::timestamp AT TIME ZONE $2 AND c.billed IS DISTINCT FROM c.refunded AND c.place <> ALL ($3::bigint[])
ORDER BY c.paid_at, c.place LIMIT ${AT_ONCE}`;

interface WaitingCharge extends Required<Unbilled> {
  readonly place: string;
  readonly provider: string;
  /** There is no invoice of it yet. */
  readonly isNew: boolean;
}

/** A charge that another process is billing is left to it. */
const CLAIM = `
SELECT c.provider, c.invoice AS reference, c.payment, p.customer_id AS "customerId", p.product_id AS product, c.plan, c.currency, c.amount::float8 AS amount,
  to_char(c.paid_at AT TIME ZONE $2, 'YYYY-MM-DD') AS "paidOn", c.refunded::float8 AS refunded, c.refunds::float8[] AS refunds, c.reasons,
  COALESCE(u.email, '') AS customer,
  COALESCE((
    SELECT json_agg(json_build_object('product', o.product_id, 'month', to_char(o.month, 'YYYY-MM'), 'units', o.units, 'amount', on_it.amount)
      ORDER BY o.month, o.product_id)
    FROM jsonb_to_recordset(c.use) AS on_it(id text, amount bigint) JOIN overage_charge o ON o.id::text = on_it.id AND o.customer_id = p.customer_id
  ), '[]') AS use
FROM payment_charge c JOIN paid_subscription p ON p.id = c.paid_subscription_id LEFT JOIN customer u ON u.id = p.customer_id
WHERE c.place = $1 AND c.billed IS DISTINCT FROM c.refunded FOR UPDATE OF c SKIP LOCKED`;

interface Claimed extends ConfirmedPayment {
  readonly customerId: string;
  /** The customer's email address. */
  readonly customer: string;
  readonly refunded: number;
  /** See `Charge`. */
  readonly refunds: readonly number[];
  /** The seller's reasons for refunds, by the total refunded with each. */
  readonly reasons: Readonly<Record<string, string>>;
}

const ISSUED = `
SELECT id, content, refunded_to::float8 AS "refundedTo" FROM invoice WHERE provider = $1 AND payment = $2 ORDER BY refunded_to`;

interface Issued {
  readonly id: string;
  readonly content: InvoiceContent;
  readonly refundedTo: number;
}

const INSERT = `
INSERT INTO invoice (series, kind, customer_id, month, currency, total, due_on, content, corrects, reason, provider, payment, refunded_to)
VALUES ($1, $2, $3, ($4 || '-01')::date, $5, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING id`;
const PAY = 'INSERT INTO invoice_payment (invoice_id, paid_on, reference, noted_by) VALUES ($1, $2, $3, $4)';

export interface PaymentInvoicing extends IssueOptions {
  /** The quota time zone. */
  readonly timeZone: string;
  /**
   * Finds what paid the provider's invoice; undefined if the provider does not say at once. It does not throw. Our invoice must exist
   * within seconds, so without this id it names only the provider's invoice, which leads to the payment.
   */
  readonly paymentOf?: (provider: string, reference: string) => Promise<string | undefined>;
}

/**
 * Gives every payment that its provider has confirmed since `terms.invoices.from` an invoice, and every refund of it a credit note: once,
 * however often the provider reports it, however many processes listen and wherever one is killed. A payment that cannot be invoiced delays
 * no other, and uses no number.
 * @returns how many invoices and credit notes were issued
 */
export async function issuePaymentInvoices(db: Pool, options: PaymentInvoicing): Promise<number> {
  const { terms, timeZone, isEnding = () => false, onFailure, paymentOf = () => Promise.resolve(undefined) } = options;
  // Payments that failed, or that another process has.
  const left: string[] = [];
  let issued = 0;
  for (;;) {
    const { rows } = await db.query<WaitingCharge>(WAITING, [terms.invoices.from, timeZone, left]);
    for (let first = 0; first < rows.length; first += ASKED_AT_ONCE) {
      const some = rows.slice(first, first + ASKED_AT_ONCE);
      // Done before the transaction, because that locks the series of numbers.
      const found = await Promise.all(
        some.map(({ provider, payment, isNew }) => (isNew ? paymentOf(provider, payment) : Promise.resolve(undefined))),
      );
      for (const [index, { place, customerId, month, payment }] of some.entries()) {
        if (isEnding()) return issued;
        const made = await inTransaction(db, (client) => billPayment(client, { place, payment: found[index] }, options)).catch(
          (error: unknown) => {
            onFailure({ customerId, month, payment }, error);
            return 0;
          },
        );
        issued += made;
        if (made === 0) left.push(place);
      }
    }
    if (rows.length < AT_ONCE) return issued;
  }
}

/** @param charge its position, and the payment that the provider named when asked */
async function billPayment(
  client: PoolClient,
  { place, payment: found }: { readonly place: string; readonly payment: string | undefined },
  options: PaymentInvoicing,
): Promise<number> {
  const { terms, today, titleOf, timeZone } = options;
  const [claimed] = (await client.query<Claimed>(CLAIM, [place, timeZone])).rows;
  if (!claimed) return 0;
  const payment = { ...claimed, payment: found ?? claimed.payment };
  const { provider, reference, customerId, customer, paidOn, refunded } = payment;
  const known = (await client.query<Issued>(ISSUED, [provider, reference])).rows;
  const made: Issued[] = [];
  const issue = async (content: InvoiceContent, refundedTo: number, invoice?: Issued): Promise<Issued> => {
    const id = await insert(client, { payment, content, refundedTo, invoice, terms });
    const one = { id, content, refundedTo };
    made.push(one);
    await enqueue(client, { kind: 'invoice', subjects: [id], detail: newsOf(one) });
    return one;
  };
  const facts = async () => ({ terms, customer, details: await findBillingDetails(client, customerId), issuedOn: today, titleOf });
  const invoice = known[0] ?? (await issue(composePaymentInvoice(payment, await facts()), 0));
  if (known.length === 0) await client.query(PAY, [invoice.id, paidOn, reference, provider]);
  for (const refundedTo of payment.refunds) {
    const before = [...known, ...made].filter((each) => each !== invoice);
    const amount = refundedTo - (before.at(-1)?.refundedTo ?? 0);
    if (amount <= 0) continue;
    const content = composeRefund(invoice.content, { amount, before: before.map((each) => each.content), issuedOn: today });
    await issue(content, refundedTo, invoice);
  }
  await client.query('UPDATE payment_charge SET billed = $2 WHERE place = $1', [place, refunded]);
  return made.length;
}

const newsOf = ({ refundedTo }: Issued): InvoiceNews => (refundedTo === 0 ? 'issued' : 'credited');

interface Insert {
  readonly payment: Claimed;
  readonly content: InvoiceContent;
  readonly refundedTo: number;
  /** The invoice that a credit note cancels. */
  readonly invoice: Issued | undefined;
  readonly terms: InvoicingTerms;
}

async function insert(client: PoolClient, { payment, content, refundedTo, invoice, terms }: Insert): Promise<string> {
  const { provider, reference, customerId } = payment;
  const { series, credit_series: creditSeries } = terms.invoices;
  const { month, currency, total, dueOn } = content;
  const [kind, of, reason] = invoice ? ['credit_note', creditSeries, payment.reasons[refundedTo] ?? NO_REASON] : ['invoice', series, ''];
  const { rows } = await client.query<{ id: string }>(INSERT, [
    of,
    kind,
    customerId,
    month,
    currency,
    total,
    dueOn,
    JSON.stringify(content),
    invoice?.id ?? null,
    reason,
    provider,
    reference,
    refundedTo,
  ]);
  if (!rows[0]) throw new Error('an invoice was not kept');
  return rows[0].id;
}
