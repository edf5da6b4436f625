import { type Database } from '../../../plugins/stores/postgres/database';
import { type UnchargedOverage } from './overage-charges';

/** A subscription that is paid as far as we know, but that the provider does not know. */
export interface VanishedPayment {
  readonly provider: string;
  /** The provider's id. */
  readonly subscription: string;
  readonly customerId: string;
  readonly product: string;
}

/** What a comparison with the provider found, by subscription. */
export interface PaymentDifference extends VanishedPayment {
  /** What differed, by name: the value here before, and the value at the provider and here now. */
  readonly changed: Readonly<Record<string, readonly [before: unknown, after: unknown]>>;
}

export interface PaymentReport {
  /** How many subscriptions were compared. */
  readonly compared: number;
  readonly differences: readonly PaymentDifference[];
  readonly vanished: readonly VanishedPayment[];
  /** Use above limits that the provider refuses to charge. Absent in reports from before overage was charged. */
  readonly uncharged?: readonly UnchargedOverage[];
  /** Why a provider could not be asked. */
  readonly problems: readonly string[];
}

/**
 * Requests a comparison, which a dashboard process makes, because only it has the provider's keys.
 * @returns its id
 */
export async function askForPaymentCheck(db: Database): Promise<string> {
  const { rows } = await db.query<{ id: string }>('INSERT INTO payment_check DEFAULT VALUES RETURNING id');
  return rows[0]?.id ?? '';
}

const NIGHTLY = `
INSERT INTO payment_check (asked_at) SELECT now() WHERE NOT EXISTS (SELECT FROM payment_check WHERE asked_at > now() - interval '24 hours')
AND EXISTS (SELECT FROM paid_subscription)`;
const FORGET = "DELETE FROM payment_check WHERE asked_at < now() - interval '30 days'";
const CLAIM = `
UPDATE payment_check SET taken_until = now() + interval '10 minutes' WHERE id = (
  SELECT id FROM payment_check WHERE done_at IS NULL AND (taken_until IS NULL OR taken_until < now())
  ORDER BY asked_at LIMIT 1 FOR UPDATE SKIP LOCKED
) RETURNING id`;

/** Takes a comparison that is due: once a day, and whenever one is requested. */
export async function claimPaymentCheck(db: Database): Promise<string | undefined> {
  await db.query(NIGHTLY);
  await db.query(FORGET);
  return (await db.query<{ id: string }>(CLAIM)).rows[0]?.id;
}

export async function endPaymentCheck(db: Database, id: string, report: PaymentReport): Promise<void> {
  await db.query('UPDATE payment_check SET done_at = now(), report = $2 WHERE id = $1', [id, JSON.stringify(report)]);
}

/** Undefined until it is done. */
export async function readPaymentCheck(db: Database, id: string): Promise<PaymentReport | undefined> {
  const { rows } = await db.query<{ report: PaymentReport | null }>('SELECT report FROM payment_check WHERE id = $1', [id]);
  return rows[0]?.report ?? undefined;
}
