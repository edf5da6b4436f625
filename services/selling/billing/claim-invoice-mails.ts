import { type Pool } from 'pg';
import { type InvoiceView, requireInvoice } from './invoice-view';

export type InvoiceMailKind = 'issued' | 'overdue' | 'paid' | 'credited';

/** A mail about an invoice that this process is to send. */
export interface ClaimedInvoiceMail {
  readonly invoice: InvoiceView;
  readonly kind: InvoiceMailKind;
  readonly to: string;
  /** Of the claim, to the microsecond, for {@link settleInvoiceMail}. */
  readonly tellAt: string;
}

/** A mail that cannot be sent for this long is dropped: the page has shown its news. */
const TOLD_FOR_DAYS = 7;

/** To the address for invoices, else to the account's. */
const CLAIM = `
UPDATE invoice_mail m SET tell_at = now() + $1 * interval '1 second'
FROM invoice i LEFT JOIN billing_details d USING (customer_id) LEFT JOIN customer c ON c.id = i.customer_id
WHERE i.id = m.invoice_id AND (m.invoice_id, m.kind) = (
  SELECT invoice_id, kind FROM invoice_mail WHERE tell_at <= now() AND asked_at > now() - interval '${TOLD_FOR_DAYS} days'
  ORDER BY tell_at LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING i.id, m.kind, m.tell_at::text AS "tellAt", COALESCE(d.email, customer_mail_address(i.customer_id), c.email) AS "to"`;

/** Takes one mail that is due; undefined when there is none. Delivery is at least once. @param retrySeconds until it is due again */
export async function claimInvoiceMail(
  db: Pool,
  { retrySeconds, today }: { readonly retrySeconds: number; readonly today: string },
): Promise<ClaimedInvoiceMail | undefined> {
  const { rows } = await db.query<{ id: string; kind: InvoiceMailKind; tellAt: string; to: string }>(CLAIM, [retrySeconds]);
  if (!rows[0]) return undefined;
  const { id, ...claim } = rows[0];
  return { ...claim, invoice: await requireInvoice(db, { id, today }) };
}

/** It was sent, or nothing is left to say. */
export async function settleInvoiceMail(db: Pool, { invoice, kind, tellAt }: Omit<ClaimedInvoiceMail, 'to'>): Promise<void> {
  await db.query('UPDATE invoice_mail SET tell_at = NULL WHERE invoice_id = $1 AND kind = $2 AND tell_at::text = $3', [
    invoice.id,
    kind,
    tellAt,
  ]);
}

const OVERDUE = `
INSERT INTO invoice_mail (invoice_id, kind)
SELECT invoice_id, 'overdue' FROM invoice_unpaid WHERE due_on < $1::date AND due_on > $1::date - 30
ON CONFLICT DO NOTHING`;

/** Has customers reminded of what is overdue, once an invoice; what is overdue for more than 30 days is left to the seller. */
export async function queueReminders(db: Pool, today: string): Promise<void> {
  await db.query(OVERDUE, [today]);
}
