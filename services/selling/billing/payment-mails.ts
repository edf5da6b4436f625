import { type ChargeFact } from '../paid-plans/payment-state';
import { type Database } from '../../../plugins/stores/postgres/database';

export type PaymentMailKind = 'paid' | 'failed' | 'grace_ends' | 'grace_over';

/** A mail about a payment that this process is to send. */
export interface ClaimedPaymentMail {
  readonly paidId: string;
  readonly kind: PaymentMailKind;
  readonly about: string;
  readonly to: string;
  /** Of the claim, to the microsecond. */
  readonly tellAt: string;
  readonly product: string;
  readonly plan: string;
  readonly status: string | null;
  /** Seconds since 1970. */
  readonly failingSince: number | null;
  /** Of `paid` and `failed`. */
  readonly fact: ChargeFact | null;
}

const TELL = `
INSERT INTO payment_mail (paid_subscription_id, kind, about) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`;

/** Has the customer told, each fact once. */
export async function queuePaymentMail(db: Database, mail: { paidId: string; kind: PaymentMailKind; about: string }): Promise<void> {
  await db.query(TELL, [mail.paidId, mail.kind, mail.about]);
}

/** A mail that cannot be sent for this long is dropped: the page has shown its news. */
const TOLD_FOR_DAYS = 7;

/** To the address for invoices, else to the account's. */
const CLAIM = `
UPDATE payment_mail m SET tell_at = now() + $1 * interval '1 second'
FROM paid_subscription p LEFT JOIN billing_details d USING (customer_id) LEFT JOIN customer c ON c.id = p.customer_id
WHERE p.id = m.paid_subscription_id AND (m.paid_subscription_id, m.kind, m.about) = (
  SELECT paid_subscription_id, kind, about FROM payment_mail
  WHERE tell_at <= now() AND asked_at > now() - interval '${TOLD_FOR_DAYS} days' ORDER BY tell_at LIMIT 1 FOR UPDATE SKIP LOCKED
)
RETURNING p.id AS "paidId", m.kind, m.about, m.tell_at::text AS "tellAt", COALESCE(d.email, customer_mail_address(p.customer_id), c.email) AS "to",
  p.product_id AS product, COALESCE(p.plan_name, '') AS plan, p.status, extract(epoch FROM p.failing_since)::float8 AS "failingSince",
  (SELECT fact FROM payment_fact f WHERE f.provider = p.provider AND f.id = m.about) AS fact`;

/** Takes one mail that is due; undefined when there is none. @param retrySeconds until it is due again */
export async function claimPaymentMail(db: Database, retrySeconds: number): Promise<ClaimedPaymentMail | undefined> {
  return (await db.query<ClaimedPaymentMail>(CLAIM, [retrySeconds])).rows[0];
}

/** It was sent, or is no longer true. */
export async function settlePaymentMail(db: Database, { paidId, kind, about, tellAt }: ClaimedPaymentMail): Promise<void> {
  const settle =
    'UPDATE payment_mail SET tell_at = NULL WHERE paid_subscription_id = $1 AND kind = $2 AND about = $3 AND tell_at::text = $4';
  await db.query(settle, [paidId, kind, about, tellAt]);
}
