import { type InvoiceCharge } from './charge-states';
import { type Database } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { cutPage, numberBefore } from '../operations/page-cursor';

const KEEP = `
INSERT INTO payment_charge AS known
  (provider, invoice, paid_subscription_id, currency, amount, charged_at, paid_at, url, payment, plan, use, refunded, refunds, refunded_at)
SELECT $1, invoice, $2, currency, amount, to_timestamp("chargedAt"), to_timestamp("paidAt"), url, payment, plan, use, refunded, refunds,
  to_timestamp("refundedAt")
FROM jsonb_to_recordset($3) AS row(invoice text, currency text, amount bigint, "chargedAt" float8, "paidAt" float8, url text, payment text, plan text,
  use jsonb, refunded bigint, refunds bigint[], "refundedAt" float8)
ORDER BY "chargedAt", invoice
ON CONFLICT (provider, invoice) DO UPDATE
SET amount = excluded.amount, charged_at = excluded.charged_at, paid_at = excluded.paid_at, url = excluded.url, payment = excluded.payment,
  plan = excluded.plan, use = excluded.use, refunded = excluded.refunded, refunds = excluded.refunds, refunded_at = excluded.refunded_at`;

/** Updates these charges from all events so far. */
export async function keepCharges(
  db: Database,
  paid: { readonly id: string; readonly provider: string },
  charges: readonly InvoiceCharge[],
) {
  if (charges.length > 0) await db.query(KEEP, [paid.provider, paid.id, JSON.stringify(charges)]);
}

/**
 * `due`: it failed, and the plan goes on for its days of grace. `overdue`: the grace is over. `failed`: the subscription ended without it.
 * `unknown`: the provider says that nothing is owed, but no event reported a payment.
 */
export type ChargeState = 'paid' | 'due' | 'overdue' | 'failed' | 'unknown';

/** A charge in a list. */
export interface ChargeView {
  readonly provider: string;
  readonly invoice: string;
  readonly customerId: string;
  /** The customer's address. */
  readonly customer: string;
  readonly product: string;
  readonly amount: number;
  readonly currency: string;
  readonly state: ChargeState;
  readonly chargedAt: Date;
  readonly paidAt: Date | null;
  readonly url: string | null;
  readonly refunded: number;
  readonly refundedAt: Date | null;
}

const STATE = `
CASE WHEN c.paid_at IS NOT NULL THEN 'paid' WHEN p.status = 'ended' THEN 'failed' WHEN p.failing_since IS NULL THEN 'unknown'
  WHEN p.entitlement = 'plan' THEN 'due' ELSE 'overdue' END`;
const FROM = 'FROM payment_charge c JOIN paid_subscription p ON p.id = c.paid_subscription_id';

export interface ChargeFilter {
  readonly customerId?: string | undefined;
  /** `YYYY-MM` of its first attempt, in this time zone. */
  readonly month?: string | undefined;
  readonly timeZone: string;
  readonly currency?: string | undefined;
  readonly state?: ChargeState | undefined;
}

const SELECT = `
SELECT c.place::text AS number, c.provider, c.invoice, p.customer_id AS "customerId", COALESCE(u.email, '') AS customer, p.product_id AS product,
  c.amount::float8 AS amount, c.currency, ${STATE} AS state, c.charged_at AS "chargedAt", c.paid_at AS "paidAt", c.url, c.refunded::float8 AS refunded,
  c.refunded_at AS "refundedAt"
${FROM} LEFT JOIN customer u ON u.id = p.customer_id`;
/** Most charges are paid; an index finds the others. */
const isIn = (state: ChargeState | null): string => (state === 'paid' ? 'c.paid_at IS NOT NULL' : `c.paid_at IS NULL AND ${STATE} = $4`);
const listOf = (state: ChargeState | null): string => `${SELECT}
WHERE c.place < $1 AND ($2::uuid IS NULL OR p.customer_id = $2) AND ($3::text IS NULL OR c.currency = $3) AND ($4::text IS NULL OR ${isIn(state)})
  AND ($5::timestamp IS NULL OR (c.charged_at >= $5::timestamp AT TIME ZONE $6 AND c.charged_at < ($5::timestamp + interval '1 month') AT TIME ZONE $6))
ORDER BY c.place DESC LIMIT $7`;

/** The charges that a filter finds, the last one reported first. */
export async function listCharges(db: Database, { after, limit, ...filter }: ChargeFilter & { after?: string | undefined; limit: number }) {
  const { customerId = null, month, timeZone, currency = null, state = null } = filter;
  const from = month === undefined ? null : `${month}-01`;
  const values = [numberBefore(after), customerId, currency, state, from, timeZone, limit + 1];
  const { rows } = await db.query<ChargeView & { number: string }>(listOf(state), values);
  return cutPage(rows, limit);
}

/** Finds a charge by the provider's id of its invoice. @throws OperationRefused `payment_unknown` */
export async function requireCharge(db: Database, { provider, invoice }: { provider: string; invoice: string }): Promise<ChargeView> {
  const { rows } = await db.query<ChargeView>(`${SELECT} WHERE c.provider = $1 AND c.invoice = $2`, [provider, invoice]);
  if (!rows[0]) throw new OperationRefused('payment_unknown', 'there is no payment with this reference');
  return rows[0];
}

/**
 * Sums of a month in a currency by one provider, refunds not subtracted: whole numbers as text, because they may exceed what a number holds
 * exactly.
 */
export interface ChargeSums {
  readonly month: string;
  readonly currency: string;
  readonly provider: string;
  readonly charges: number;
  readonly charged: string;
  /** Null if it is unknown for a charge whether it was paid. */
  readonly paid: string | null;
  readonly due: string;
  readonly overdue: string;
  readonly failed: string;
  /** Refunds, by the month of the charge. */
  readonly refunded: string;
}

const sumOf = (state: ChargeState): string => `COALESCE(sum(amount - refunded) FILTER (WHERE state = '${state}'), 0)::text`;
const SUMS = `
SELECT month, currency, provider, sum(charges)::integer AS charges, sum(amount - refunded)::text AS charged,
  CASE WHEN bool_or(state = 'unknown') THEN NULL ELSE ${sumOf('paid')} END AS paid, ${sumOf('due')} AS due, ${sumOf('overdue')} AS overdue,
  ${sumOf('failed')} AS failed, sum(refunded)::text AS refunded
FROM (SELECT to_char(c.charged_at AT TIME ZONE $1, 'YYYY-MM') AS month, c.currency, c.provider, 1 AS charges, c.amount, c.refunded, ${STATE} AS state
  ${FROM} WHERE c.paid_at IS NULL AND c.charged_at > now() - interval '2 years'
  UNION ALL
  SELECT to_char(charged_at AT TIME ZONE $1, 'YYYY-MM'), currency, provider, charges, amount, refunded, 'paid' FROM payment_charge_sum
  WHERE charges > 0 AND charged_at > now() - interval '2 years') AS found
GROUP BY month, currency, provider ORDER BY month DESC, currency, provider`;

/** Sums by month, newest first, of the last two years; paid charges from the stored sums. */
export async function sumCharges(db: Database, timeZone: string): Promise<ChargeSums[]> {
  return (await db.query<ChargeSums>(SUMS, [timeZone])).rows;
}
