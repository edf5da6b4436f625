import { isDeepStrictEqual } from 'node:util';
import { fromMinor } from '../../../plugins/core/catalogue/money';
import { type Overage } from '../../../plugins/core/catalogue/catalogue';
import { type Database, inTransaction, isUuid } from '../../../plugins/stores/postgres/database';
import { type Actor, writeAudit } from '../customers/write-audit';
import { OperationRefused } from '../operations/operation-refused';

/** A plan that a customer was sent to pay for. */
export interface Checkout {
  readonly id: string;
  readonly customerId: string;
  readonly product: string;
  readonly plan: string;
  /** Price in the currency's smallest unit. */
  readonly price: number;
  readonly currency: string;
  /** Requests a day and a month that the plan had then; null in old checkouts that did not record them. */
  readonly daily: number | null;
  readonly monthly: number | null;
  /** What the plan sold above these; null: nothing. */
  readonly overage: Overage | null;
  readonly provider: string;
  /** The provider's id; null until the provider has responded. */
  readonly session: string | null;
  /** Address of its page. */
  readonly url: string | null;
  readonly state: 'open' | 'paid' | 'closed';
}

const COLUMNS = `id, customer_id AS "customerId", product_id AS product, plan_name AS plan, price::float8 AS price, currency, daily, monthly, overage, provider, session, url, state`;

export interface WantedCheckout extends Pick<
  Checkout,
  'customerId' | 'product' | 'plan' | 'price' | 'currency' | 'daily' | 'monthly' | 'overage' | 'provider'
> {
  readonly actor: Actor;
}

const OPEN = `
INSERT INTO checkout (customer_id, product_id, plan_name, price, currency, provider, daily, monthly, overage) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)
ON CONFLICT (customer_id, product_id) WHERE state = 'open' DO NOTHING RETURNING ${COLUMNS}`;
const FIND_OPEN = `SELECT ${COLUMNS} FROM checkout WHERE customer_id = $1 AND product_id = $2 AND state = 'open'`;

const TERMS = ['plan', 'price', 'currency', 'daily', 'monthly'] as const;
export type CheckoutTerms = Pick<Checkout, (typeof TERMS)[number] | 'overage'>;

/** Whether a checkout is for these terms, which the customer agreed to. */
export function hasTerms(checkout: CheckoutTerms, wanted: CheckoutTerms): boolean {
  const isSame = TERMS.every((member) => checkout[member] === null || checkout[member] === wanted[member]);
  return isSame && isDeepStrictEqual(checkout.overage, wanted.overage);
}

/** Whether an open checkout matches the present request; otherwise it must be closed first. */
export function isFor(checkout: Checkout, wanted: WantedCheckout): boolean {
  return hasTerms(checkout, wanted) && checkout.provider === wanted.provider;
}

/**
 * The open checkout of a customer for a product: a new one, or the one already open, which may be for another plan. There is never more
 * than one, so nobody pays twice.
 */
export function openCheckout(db: Database, wanted: WantedCheckout): Promise<Checkout> {
  const { customerId, product, plan, price, currency, daily, monthly, overage, provider, actor } = wanted;
  return inTransaction(db, async (client) => {
    const values = [customerId, product, plan, price, currency, provider, daily, monthly, overage && JSON.stringify(overage)];
    const made = (await client.query<Checkout>(OPEN, values)).rows[0];
    if (!made) {
      const open = (await client.query<Checkout>(FIND_OPEN, [customerId, product])).rows[0];
      if (!open) throw new OperationRefused('checkout_closed', 'the checkout came to an end just now; ask again');
      return open;
    }
    const details = { product, plan, price: fromMinor(price, currency), currency };
    await writeAudit(client, { actor, action: 'payment.checkout', subject: { kind: 'customer', id: customerId }, details });
    return made;
  });
}

/** Stores the provider's id and page of a checkout. */
export async function noteSession(db: Database, id: string, { session, url }: { session: string; url: string }): Promise<void> {
  await db.query('UPDATE checkout SET session = $2, url = $3 WHERE id = $1', [id, session, url]);
}

/** Ends a checkout. One that has ended already stays as it is. */
export async function endCheckout(db: Database, id: string, state: 'paid' | 'closed'): Promise<void> {
  await db.query("UPDATE checkout SET state = $2, look_at = NULL WHERE id = $1 AND state = 'open'", [id, state]);
}

/** @throws OperationRefused `checkout_unknown`, also for another customer's */
export async function requireCheckout(db: Database, { id, customerId }: { id: string; customerId: string }): Promise<Checkout> {
  const { rows } = await db.query<Checkout>(`SELECT ${COLUMNS} FROM checkout WHERE id = $1 AND customer_id = $2`, [id, customerId]);
  if (!rows[0]) throw new OperationRefused('checkout_unknown', 'there is no checkout with this id');
  return rows[0];
}

/** The provider reported an outcome, so it is asked at the next look. */
export async function lookSoon(db: Database, { id, provider }: { id: string; provider: string }): Promise<void> {
  if (!isUuid(id)) return;
  await db.query("UPDATE checkout SET look_at = now() WHERE id = $1 AND provider = $2 AND state = 'open'", [id, provider]);
}

/**
 * Every half minute for an hour, and every ten minutes after that: a customer who paid must not be without the plan because a webhook was
 * lost.
 */
const CLAIM = `
UPDATE checkout SET look_at = now() + CASE WHEN opened_at > now() - interval '1 hour' THEN interval '30 seconds' ELSE interval '10 minutes' END
WHERE id = (SELECT id FROM checkout WHERE look_at <= now() ORDER BY look_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING ${COLUMNS}, EXISTS (SELECT FROM account_deletion d WHERE d.customer_id = checkout.customer_id) AS "isLeaving"`;

/** @property isLeaving the account is deleted: nobody may pay through the checkout any more */
type ClaimedCheckout = Checkout & { readonly isLeaving: boolean };

/** Takes one checkout about which the provider must be asked; undefined if there is none. */
export async function claimCheckout(db: Database): Promise<ClaimedCheckout | undefined> {
  return (await db.query<ClaimedCheckout>(CLAIM)).rows[0];
}

/** The provider's id of the customer; undefined before the first checkout. */
export async function findAccount(db: Database, { customerId, provider }: { customerId: string; provider: string }) {
  const { rows } = await db.query<{ account: string }>('SELECT account FROM payment_account WHERE customer_id = $1 AND provider = $2', [
    customerId,
    provider,
  ]);
  return rows[0]?.account;
}

const KEEP_ACCOUNT = `
INSERT INTO payment_account (customer_id, provider, account) VALUES ($1, $2, $3)
ON CONFLICT (customer_id, provider) DO UPDATE SET account = excluded.account`;

export async function keepAccount(
  db: Database,
  { customerId, provider, account }: { customerId: string; provider: string; account: string },
) {
  await db.query(KEEP_ACCOUNT, [customerId, provider, account]);
}
