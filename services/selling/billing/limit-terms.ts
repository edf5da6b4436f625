import { type PoolClient } from 'pg';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { type Rate } from '../../../plugins/core/catalogue/catalogue';
import { fitsDecimals } from '../../../plugins/core/catalogue/money';
import { findPaid } from '../paid-plans/paid-subscriptions';
import { OperationRefused } from '../operations/operation-refused';
import { changeSubscription } from '../subscriptions/change-subscription';
import { hasOwnLimits, lockSubscription, type SubscriptionView } from '../subscriptions/subscription-view';

/** Why a subscription has its own price or limits, and until when. */
export interface LimitTerm {
  readonly subscriptionId: string;
  readonly reason: string;
  /** Email address of the operator. */
  readonly setBy: string;
  /** Null: it does not end. */
  readonly endsAt: Date | null;
}

export interface LimitWish {
  /** Id of the subscription. */
  readonly id: string;
  /** Requests a day and a month; null for the plan's limits. */
  readonly daily: number | null;
  readonly monthly: number | null;
  /** Null for the plan's rate, undefined to keep the present one. */
  readonly rate?: Rate | null | undefined;
  /** A month, in the plan's currency; null for the plan's price, undefined to keep the present one. */
  readonly price?: string | null | undefined;
  readonly reason: string;
  readonly endsAt: Date | null;
  readonly setBy: string;
  readonly actor: Actor;
}

const KEEP = `
INSERT INTO subscription_limit_term (subscription_id, reason, set_by, ends_at) VALUES ($1, $2, $3, $4)
ON CONFLICT (subscription_id) DO UPDATE SET reason = excluded.reason, set_by = excluded.set_by, ends_at = excluded.ends_at`;
const DROP = 'DELETE FROM subscription_limit_term WHERE subscription_id = $1';

const SET_PRICE = `
UPDATE subscription s SET price_override = $2::numeric, price_override_currency = CASE WHEN $2::numeric IS NOT NULL THEN $3 END, updated_at = now()
WHERE id = $1`;
const FIND_CURRENCY = 'SELECT currency FROM plan WHERE product_id = $1 AND name = $2';

/** @throws OperationRefused `plan_needed`, `plan_paid`, `price_malformed` */
async function setPrice(client: PoolClient, view: SubscriptionView, price: string | null): Promise<void> {
  const { id, product, plan } = view;
  const { rows } = await client.query<{ currency: string }>(FIND_CURRENCY, [product, plan]);
  const currency = rows[0]?.currency ?? null;
  if (price !== null) {
    if (currency === null) throw new OperationRefused('plan_needed', 'base limits cost nothing; a price of its own needs a plan');
    if (await findPaid(client, view.customerId, product)) {
      throw new OperationRefused(
        'plan_paid',
        'the plan is paid in advance, at the price that the payment provider charges; end that payment first',
      );
    }
    if (!fitsDecimals(price, currency)) throw new OperationRefused('price_malformed', `the price has more decimals than ${currency}`);
  }
  await client.query(SET_PRICE, [id, price, currency]);
}

/**
 * Sets or removes price and limits of one subscription. Limits count from the next request; of two prices on one day the higher counts.
 * Both end by themselves within a minute of their end; a price also ends with its plan.
 * @throws OperationRefused `subscription_unknown`, `subscription_cancelled`, `limit_malformed`, `price_malformed`, `plan_needed`,
 * `plan_paid`
 */
export function setLimits(db: Database, wish: LimitWish): Promise<SubscriptionView> {
  const { id, daily, monthly, rate, price, reason, endsAt, setBy, actor } = wish;
  return inTransaction(db, async (client) => {
    const before = await changeSubscription(client, { id, daily, monthly, rate, actor });
    if (price !== undefined) await setPrice(client, before, price);
    const hasTerms = hasOwnLimits(before) || (price === undefined ? before.priceOverride : price) !== null;
    await (hasTerms ? client.query(KEEP, [before.id, reason, setBy, endsAt]) : client.query(DROP, [before.id]));
    const view = await lockSubscription(client, before);
    await writeAudit(client, {
      actor,
      action: 'subscription.limits',
      subject: { kind: 'subscription', id: view.id },
      details: { before: { price: before.priceOverride }, after: { price: view.priceOverride }, reason, until: endsAt },
    });
    return view;
  });
}

/** Terms of one customer's subscriptions. */
export async function listLimitTerms(db: Database, customerId: string): Promise<LimitTerm[]> {
  const text = `
    SELECT t.subscription_id AS "subscriptionId", t.reason, t.set_by AS "setBy", t.ends_at AS "endsAt"
    FROM subscription_limit_term t JOIN subscription s ON s.id = t.subscription_id WHERE s.customer_id = $1`;
  return (await db.query<LimitTerm>(text, [customerId])).rows;
}

/** A few at a time; rows that another process has locked are left to it. */
const ENDED = `
SELECT t.subscription_id AS id FROM subscription_limit_term t
WHERE t.ends_at <= now() ORDER BY t.ends_at LIMIT 100 FOR UPDATE OF t SKIP LOCKED`;
const END = `
UPDATE subscription SET daily_override = NULL, monthly_override = NULL, rate_override = NULL, price_override = NULL,
  price_override_currency = NULL, updated_at = now() WHERE id = $1`;

async function endOne(client: PoolClient, id: string): Promise<void> {
  const { dailyOverride, monthlyOverride, rateOverride, priceOverride } = await lockSubscription(client, { id });
  await client.query(END, [id]);
  await client.query(DROP, [id]);
  const before = { daily: dailyOverride, monthly: monthlyOverride, rate: rateOverride, price: priceOverride };
  const after = { daily: null, monthly: null, rate: null, price: null };
  const details = { before, after, reason: 'the end date of the own terms has come' };
  await writeAudit(client, { actor: 'dashboard', action: 'subscription.change', subject: { kind: 'subscription', id }, details });
}

const END_PRICE = `
UPDATE subscription SET price_override = NULL, price_override_currency = NULL, updated_at = now()
WHERE id = $1 AND price_override IS NOT NULL RETURNING num_nonnulls(daily_override, monthly_override, rate_override) = 0 AS "isBare"`;

/** The payment provider charges the plan's price, and knows no other. Runs in the caller's transaction. */
export async function endOwnPrice(client: PoolClient, id: string, actor: Actor): Promise<void> {
  const { rows } = await client.query<{ isBare: boolean }>(END_PRICE, [id]);
  if (!rows[0]) return;
  if (rows[0].isBare) await client.query(DROP, [id]);
  const details = { after: { price: null }, reason: 'the plan is paid at the payment provider now' };
  await writeAudit(client, { actor, action: 'subscription.change', subject: { kind: 'subscription', id }, details });
}

/**
 * Removes prices and limits whose end has come.
 * @returns the number of subscriptions
 */
export function endLimits(db: Database): Promise<number> {
  return inTransaction(db, async (client) => {
    const { rows } = await client.query<{ id: string }>(ENDED);
    for (const { id } of rows) await endOne(client, id);
    return rows.length;
  });
}
