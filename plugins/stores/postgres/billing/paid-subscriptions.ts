import { type PoolClient } from 'pg';
import { type PaymentTerms } from '../../../core/selling/billing-terms';
import { entitlementOf, graceEnd, type Entitlement, type PaymentState, reducePayments } from '../../../core/selling/payment-state';
import { type Database, inTransaction } from '../database';
import { writeAudit } from '../customers/write-audit';
import { suspendSubscription } from '../suspensions/suspend';
import { queuePaymentMail } from './payment-mails';
import { type PaidOwner, readFacts } from './payment-facts';

/** In the audit log, for what a payment brings about. */
export const PAYMENT_ACTOR = 'payments';

/** A subscription at a payment provider, as pages show it. Moments are seconds since 1970. */
export interface PaidSubscription {
  readonly id: string;
  readonly provider: string;
  readonly reference: string;
  readonly customerId: string;
  readonly product: string;
  readonly plan: string | null;
  readonly status: PaymentState['status'] | null;
  readonly price: number | null;
  readonly currency: string | null;
  readonly periodEnd: number | null;
  readonly cancelsAt: number | null;
  readonly failingSince: number | null;
  readonly entitlement: Entitlement;
  readonly givenPlan: string | null;
}

const epoch = (column: string): string => `extract(epoch FROM ${column})::float8`;
const SELECT = `
SELECT id, provider, reference, customer_id AS "customerId", product_id AS product, plan_name AS plan, status, price::float8 AS price, currency,
  ${epoch('period_end')} AS "periodEnd", ${epoch('cancels_at')} AS "cancelsAt", ${epoch('failing_since')} AS "failingSince", entitlement,
  given_plan AS "givenPlan"
FROM paid_subscription`;

/** Those that have not ended, by product. */
export async function listPaid(db: Database, customerId: string): Promise<PaidSubscription[]> {
  const { rows } = await db.query<PaidSubscription>(
    `${SELECT} WHERE customer_id = $1 AND status IS NOT NULL AND status NOT IN ('waiting', 'ended') ORDER BY product_id, made_at`,
    [customerId],
  );
  return rows;
}

/** By the provider's id; undefined for one that is not ours. */
export async function findPaidByReference(db: Database, { provider, reference }: { provider: string; reference: string }) {
  return (await db.query<PaidSubscription>(`${SELECT} WHERE provider = $1 AND reference = $2`, [provider, reference])).rows[0];
}

/** Whether a customer ever paid for a product, or had it on trial. */
export async function wasPaid(db: Database, customerId: string, product: string): Promise<boolean> {
  const { rowCount } = await db.query('SELECT FROM paid_subscription WHERE customer_id = $1 AND product_id = $2 LIMIT 1', [
    customerId,
    product,
  ]);
  return (rowCount ?? 0) > 0;
}

/** The one that pays for a product now; undefined where nothing is paid. */
export async function findPaid(db: Database, customerId: string, product: string): Promise<PaidSubscription | undefined> {
  return (await listPaid(db, customerId)).find((each) => each.product === product);
}

const UPDATE = `
UPDATE paid_subscription SET status = $2, plan_name = $3, price = $4, currency = $5, period_end = to_timestamp($6), cancels_at = to_timestamp($7),
  failing_since = to_timestamp($8), entitlement = $9, given_plan = $10, look_at = CASE WHEN $2 = 'ended' THEN NULL ELSE to_timestamp($11) END
WHERE id = $1`;

/** Nothing is asked more often, whatever is due. */
const LEAST_WAIT_SECONDS = 60;
/** While something is owed; at first, when a renewal should have been told just now, more often. */
const MOST_WAIT_SECONDS = 6 * 3_600;
const HOUR_SECONDS = 3_600;

/** When the provider is asked next: soon after something is due, and else each six hours while something is owed. */
function nextLook(state: PaymentState, terms: PaymentTerms, now: number): number {
  const grace = graceEnd(state, { graceDays: terms.grace_days, afterGrace: terms.after_grace }, now);
  const due = [state.periodEnd, state.cancelsAt, grace].filter((each): each is number => each !== null && each > now);
  const isAwaited = state.periodEnd <= now && now - state.periodEnd < HOUR_SECONDS;
  if (isAwaited) return now + LEAST_WAIT_SECONDS;
  const isCalm = state.failingSince === null && state.periodEnd > now;
  return Math.min(...due.map((each) => each + LEAST_WAIT_SECONDS), isCalm ? Infinity : now + MOST_WAIT_SECONDS);
}

interface OwnSubscription {
  readonly id: string;
  readonly state: 'active' | 'paused' | 'cancelled';
  readonly plan: string | null;
}

/** Directly, since what is paid for holds whether the plan is still offered or not. A cancelled subscription comes back; a paused one stays so. */
async function setPlan(
  client: PoolClient,
  own: OwnSubscription | undefined,
  { customerId, product, plan }: PaidOwner & { plan: string | null },
) {
  const actor = PAYMENT_ACTOR;
  if (!own) {
    const insert = 'INSERT INTO subscription (customer_id, product_id, plan_name) VALUES ($1, $2, $3) RETURNING id';
    const { rows } = await client.query<{ id: string }>(insert, [customerId, product, plan]);
    const subject = { kind: 'subscription', id: rows[0]?.id ?? '' } as const;
    return writeAudit(client, { actor, action: 'subscription.create', subject, details: { product, plan } });
  }
  if (own.plan === plan && own.state !== 'cancelled') return undefined;
  const update = `UPDATE subscription SET plan_name = $2, state = CASE state WHEN 'cancelled' THEN 'active' ELSE state END, updated_at = now() WHERE id = $1`;
  await client.query(update, [own.id, plan]);
  const details = { before: { plan: own.plan, state: own.state }, after: { plan } };
  return writeAudit(client, { actor, action: 'subscription.change', subject: { kind: 'subscription', id: own.id }, details });
}

const OTHERS = `
SELECT FROM paid_subscription WHERE customer_id = $1 AND product_id = $2 AND id <> $3 AND entitlement = 'plan'`;

/** Gives what was paid for, or takes it away again. Runs in the caller's transaction. */
async function give(client: PoolClient, paid: PaidSubscription, { entitlement, plan }: { entitlement: Entitlement; plan: string }) {
  const { customerId, product } = paid;
  const { rows } = await client.query<OwnSubscription>(
    'SELECT id, state, plan_name AS plan FROM subscription WHERE customer_id = $1 AND product_id = $2 FOR UPDATE',
    [customerId, product],
  );
  const own = rows[0];
  const actor = PAYMENT_ACTOR;
  if (paid.entitlement === 'suspended' && own) await suspendSubscription(client, { id: own.id, reason: undefined, actor });
  if (entitlement === 'plan') return setPlan(client, own, { customerId, product, plan });
  if (!own || own.state === 'cancelled') return undefined;
  if ((await client.query(OTHERS, [customerId, product, paid.id])).rowCount) return undefined;
  if (entitlement === 'suspended') {
    const reason = 'A payment failed. Pay it under Billing, and requests are accepted again.';
    await suspendSubscription(client, { id: own.id, reason, actor });
    return undefined;
  }
  // Another plan was given by somebody else since.
  return own.plan === paid.givenPlan ? setPlan(client, own, { customerId, product, plan: null }) : undefined;
}

const NEW_CHARGES = `
SELECT id, fact ->> 'kind' AS kind FROM payment_fact WHERE provider = $1 AND paid_subscription = $2 AND applied_at IS NULL
  AND fact ->> 'kind' IN ('paid', 'failed') AND (fact ->> 'amount')::bigint > 0`;

/** Receipts, failed charges, and the end of the grace: each once, in the transaction that counts it. */
async function tellCustomer(
  client: PoolClient,
  paid: PaidSubscription,
  { state, entitlement }: { state: PaymentState; entitlement: Entitlement },
) {
  const { rows } = await client.query<{ id: string; kind: 'paid' | 'failed' }>(NEW_CHARGES, [paid.provider, paid.reference]);
  for (const { id, kind } of rows) await queuePaymentMail(client, { paidId: paid.id, kind, about: id });
  if (paid.entitlement === 'plan' && entitlement !== 'plan' && state.status === 'failing') {
    await queuePaymentMail(client, { paidId: paid.id, kind: 'grace_over', about: String(state.failingSince) });
  }
}

/**
 * Makes what a customer has follow from what the provider said so far. Running it again, from several processes at once or after being
 * killed anywhere comes to the same.
 * @param options.now seconds since 1970
 * @returns the state; undefined while the provider has not said what it is
 */
export function applyPayments(
  db: Database,
  { provider, reference, terms, now }: { provider: string; reference: string; terms: PaymentTerms; now: number },
): Promise<PaymentState | undefined> {
  return inTransaction(db, async (client) => {
    const found = await client.query<PaidSubscription>(`${SELECT} WHERE provider = $1 AND reference = $2 FOR UPDATE`, [
      provider,
      reference,
    ]);
    const paid = found.rows[0];
    if (!paid) return undefined;
    const facts = await readFacts(client, provider, reference);
    const state = reducePayments(facts);
    if (state) {
      const entitlement = entitlementOf(state, { graceDays: terms.grace_days, afterGrace: terms.after_grace }, now);
      const isSame = entitlement === paid.entitlement && (entitlement === 'none' || state.plan === paid.givenPlan);
      if (!isSame) await give(client, paid, { entitlement, plan: state.plan });
      const { status, plan, price, currency, periodEnd, cancelsAt, failingSince } = state;
      const given = entitlement === 'none' ? null : plan;
      const look = nextLook(state, terms, now);
      await tellCustomer(client, paid, { state, entitlement });
      await client.query(UPDATE, [paid.id, status, plan, price, currency, periodEnd, cancelsAt, failingSince, entitlement, given, look]);
    }
    await client.query(
      'UPDATE payment_fact SET applied_at = now() WHERE provider = $1 AND paid_subscription = $2 AND id = ANY ($3) AND applied_at IS NULL',
      [provider, reference, facts.map(({ id }) => id)],
    );
    return state;
  });
}

const OF_ERASED = `
SELECT provider, reference FROM paid_subscription p JOIN account_deletion d ON d.customer_id = p.customer_id AND d.erased_at IS NOT NULL
WHERE p.look_at IS NOT NULL AND p.status <> 'ended' LIMIT 10`;

/** Subscriptions of accounts that are gone, which must not be charged any more. */
export async function listPaidByErased(db: Database): Promise<{ provider: string; reference: string }[]> {
  return (await db.query<{ provider: string; reference: string }>(OF_ERASED)).rows;
}

const CLAIM = `
UPDATE paid_subscription SET look_at = now() + interval '60 seconds'
WHERE id = (SELECT id FROM paid_subscription WHERE look_at <= now() ORDER BY look_at LIMIT 1 FOR UPDATE SKIP LOCKED)
RETURNING provider, reference`;

/** Takes one subscription of which the provider is to be asked; undefined when there is none. */
export async function claimPaid(db: Database): Promise<{ readonly provider: string; readonly reference: string } | undefined> {
  return (await db.query<{ provider: string; reference: string }>(CLAIM)).rows[0];
}
