import { type PoolClient } from 'pg';
import { type InvoicingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { addDays } from '../statements/statement';
import { type InvoiceContent } from './invoice';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { enqueue } from '../outbox/outbox';
import { type InvoiceView, requireInvoice } from './invoice-view';

export interface InvoiceRef {
  readonly id: string;
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly today: string;
  readonly actor: Actor;
}

/**
 * If two requests settle an invoice at once, the second waits and sees what the first did.
 * @throws OperationRefused `invoice_unknown`
 */
async function lockInvoice(client: PoolClient, ref: InvoiceRef): Promise<InvoiceView> {
  const { number } = await requireInvoice(client, ref);
  await client.query("SELECT pg_advisory_xact_lock(hashtext('tollgate invoice'), hashtext($1))", [number]);
  const invoice = await requireInvoice(client, ref);
  if (invoice.kind !== 'invoice') throw new OperationRefused('invoice_settled', `${invoice.number} is a credit note`);
  if (invoice.paidThrough !== null)
    throw new OperationRefused('invoice_settled', `${invoice.number} is paid; refund its payment, which makes a credit note`);
  if (invoice.state === 'credited') throw new OperationRefused('invoice_settled', `${invoice.number} was credited by ${invoice.credit}`);
  return invoice;
}

const PAY = 'INSERT INTO invoice_payment (invoice_id, paid_on, reference, noted_by) VALUES ($1, $2, $3, $4)';

/**
 * Records that an invoice was paid in full, and queues a receipt for the customer.
 * @throws OperationRefused `invoice_unknown`; `invoice_settled` if it was paid or credited before; `date_malformed` for a future day
 */
export function markInvoicePaid(
  db: Database,
  { paidOn, reference, ...ref }: InvoiceRef & { readonly paidOn: string; readonly reference: string },
): Promise<void> {
  return inTransaction(db, async (client) => {
    const invoice = await lockInvoice(client, ref);
    if (invoice.state === 'paid') throw new OperationRefused('invoice_settled', `${invoice.number} is paid already`);
    if (paidOn > addDays(ref.today, 1)) throw new OperationRefused('date_malformed', 'nothing is paid in the future');
    const name = typeof ref.actor === 'string' ? ref.actor : ref.actor.name;
    await client.query(PAY, [invoice.id, paidOn, reference, name]);
    await enqueue(client, { kind: 'invoice', subjects: [invoice.id], detail: 'paid' });
    await note(client, { ref, invoice, action: 'billing.paid', details: { invoice: invoice.number, paidOn, reference } });
  });
}

const CREDIT = `
INSERT INTO invoice (series, kind, customer_id, month, currency, total, due_on, corrects, reason, content)
VALUES ($1, 'credit_note', $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id, number`;

/**
 * Cancels a whole invoice, paid or not, by a credit note with the same lines.
 * @throws OperationRefused `invoice_unknown`; `invoice_settled` if it was credited before
 */
export function creditInvoice(
  db: Database,
  { reason, terms, ...ref }: InvoiceRef & { readonly reason: string; readonly terms: InvoicingTerms },
): Promise<{ readonly id: string }> {
  return inTransaction(db, async (client) => {
    const invoice = await lockInvoice(client, ref);
    const content: InvoiceContent = { ...invoice.content, issuedOn: ref.today, dueOn: ref.today, payment: null };
    const { rows } = await client.query<{ id: string; number: string }>(CREDIT, [
      terms.invoices.credit_series,
      invoice.customerId,
      `${invoice.month}-01`,
      invoice.currency,
      invoice.total,
      ref.today,
      invoice.id,
      reason,
      JSON.stringify(content),
    ]);
    const [made] = rows;
    if (!made) throw new Error('a credit note was not kept');
    await enqueue(client, { kind: 'invoice', subjects: [made.id], detail: 'credited' });
    await note(client, { ref, invoice, action: 'billing.credit', details: { invoice: invoice.number, creditNote: made.number, reason } });
    return { id: made.id };
  });
}

interface Noted {
  readonly ref: InvoiceRef;
  readonly invoice: InvoiceView;
  readonly action: 'billing.paid' | 'billing.credit';
  readonly details: Readonly<Record<string, string>>;
}

function note(client: PoolClient, { ref, invoice, action, details }: Noted): Promise<void> {
  return writeAudit(client, { actor: ref.actor, action, subject: { kind: 'customer', id: invoice.customerId }, details });
}
