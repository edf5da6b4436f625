import { type PoolClient } from 'pg';
import { type PaymentTerms } from '../../../plugins/core/catalogue/billing-terms';
import { chargesOf, isAboutCharge, isCharge } from './charge-states';
import {
  type Entitlement,
  entitlementOf,
  graceEnd,
  type GraceTerms,
  isUncertain,
  type PaymentState,
  reducePayments,
} from '../paid-plans/payment-state';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { findPaidByReference, type PaidRef, type PaidSubscription } from '../paid-plans/paid-subscriptions';
import { keepCharges } from './payment-charges';
import { releaseOverage } from './overage-charges';
import { type KeptFact, type PaidOwner, readFacts } from './payment-facts';
import { endOwnPrice } from './limit-terms';
import { enqueue, type PaymentNews } from '../outbox/outbox';
import { writeAudit } from '../customers/write-audit';
import { PAYMENT_ACTOR, restorePaid, suspendUnpaid } from '../suspensions/suspend';

interface OwnSubscription {
  readonly id: string;
  readonly state: 'active' | 'paused' | 'cancelled';
  readonly plan: string | null;
}

/**
 * Set directly, because a paid plan holds even if it is no longer offered. A cancelled subscription comes back; a paused one stays paused.
 */
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
  const state = own.state === 'cancelled' ? 'active' : own.state;
  await client.query('UPDATE subscription SET plan_name = $2, state = $3, updated_at = now() WHERE id = $1', [own.id, plan, state]);
  const details = { before: { plan: own.plan, state: own.state }, after: { plan, state } };
  return writeAudit(client, { actor, action: 'subscription.change', subject: { kind: 'subscription', id: own.id }, details });
}

const OTHERS = `
SELECT FROM paid_subscription WHERE customer_id = $1 AND product_id = $2 AND id <> $3 AND entitlement = 'plan'`;

/** Gives what was paid for, or removes it again. Runs in the caller's transaction. */
async function givePaidPlan(client: PoolClient, paid: PaidSubscription, { entitlement, plan }: { entitlement: Entitlement; plan: string }) {
  const { customerId, product } = paid;
  const { rows } = await client.query<OwnSubscription>(
    'SELECT id, state, plan_name AS plan FROM subscription WHERE customer_id = $1 AND product_id = $2 FOR UPDATE',
    [customerId, product],
  );
  const own = rows[0];
  if (paid.entitlement === 'suspended' && own) await restorePaid(client, own.id);
  if (entitlement === 'plan') {
    // Before the plan: a change of plan ends the subscription's own price without an audit line.
    if (own) await endOwnPrice(client, own.id, PAYMENT_ACTOR);
    return setPlan(client, own, { customerId, product, plan });
  }
  if (!own || own.state === 'cancelled') return undefined;
  if ((await client.query(OTHERS, [customerId, product, paid.id])).rowCount) return undefined;
  if (entitlement === 'suspended') return suspendUnpaid(client, own.id);
  // Somebody else has given another plan since.
  return own.plan === paid.givenPlan ? setPlan(client, own, { customerId, product, plan: null }) : undefined;
}

/** Times here are the provider's, so the wait is stored instead of a time: two clocks are never compared. */
const UPDATE = `
UPDATE paid_subscription SET status = $2, plan_name = $3, price = $4, currency = $5, period_end = to_timestamp($6), cancels_at = to_timestamp($7),
  failing_since = to_timestamp($8), entitlement = $9, given_plan = $10, next_plan = $12, next_price = $13, discount = $14, is_paused = $15,
  look_at = CASE WHEN $2 = 'ended' THEN NULL ELSE now() + $11 * interval '1 second' END
WHERE id = $1`;

const HOUR_SECONDS = 3_600;
const DAY_SECONDS = 86_400;
/** A renewal is reported some seconds late; asking at its time would still return the old period. */
const NEWS_SECONDS = 60;
/** The wait while news is overdue that a provider gives within minutes, or while the provider is away. */
const SOON_SECONDS = 30;
/** The wait while something is owed. */
const MAX_WAIT_SECONDS = 6 * HOUR_SECONDS;
/** The minimum wait, whatever is due. */
const MIN_WAIT_SECONDS = 5;

const graceOf = ({ grace_days: graceDays, after_grace: afterGrace }: PaymentTerms): GraceTerms => ({ graceDays, afterGrace });

/** Seconds until the provider is asked next: when the plan ends without news, soon after a period, and often while a payment is owed. */
function nextLook(state: PaymentState, terms: PaymentTerms, at: number): number {
  const { periodEnd, cancelsAt, failingSince } = state;
  const lapse = graceEnd(state, graceOf(terms), Infinity);
  const moments = [periodEnd + NEWS_SECONDS, cancelsAt, lapse, lapse === null ? null : lapse - DAY_SECONDS];
  const waits = moments.flatMap((each) => (each === null || each <= at ? [] : [each - at]));
  const isAwaited = periodEnd <= at && at - periodEnd < HOUR_SECONDS;
  const isCalm = failingSince === null && periodEnd > at;
  return Math.max(MIN_WAIT_SECONDS, Math.min(...waits, isAwaited ? SOON_SECONDS : isCalm ? Infinity : MAX_WAIT_SECONDS));
}

interface Outcome {
  /** Charges that were not reported to the customer yet. */
  readonly charges: readonly KeptFact[];
  readonly state: PaymentState;
  readonly entitlement: Entitlement;
}

/**
 * Queues mails about receipts, failed charges, the day before the grace ends, and its end: each once, in the transaction that counts the
 * charge.
 */
async function tellCustomer(
  client: PoolClient,
  paid: PaidSubscription,
  { charges, state, entitlement, terms, at }: Outcome & { terms: PaymentTerms; at: number },
) {
  const tell = (news: PaymentNews, about: string): Promise<void> =>
    enqueue(client, { kind: 'payment', subjects: [paid.id], detail: `${news} ${about}` });
  for (const { id, fact } of charges) await tell(fact.kind === 'paid' ? 'paid' : 'failed', id);
  if (state.status !== 'failing') return;
  const since = String(state.failingSince);
  if (entitlement !== 'plan') {
    if (paid.entitlement === 'plan') await tell('grace_over', since);
    return;
  }
  const lapse = graceEnd(state, graceOf(terms), at);
  // With a grace of a day, the mail about the failed payment says the same.
  const isLastDay = terms.grace_days > 1 && lapse !== null && at >= lapse - DAY_SECONDS;
  if (isLastDay) await tell('grace_ends', since);
}

/**
 * Charges to be reported to the customer. A paid charge is reported once, although it may come both by an event and when the provider is
 * asked.
 */
function untold(facts: readonly KeptFact[]): KeptFact[] {
  const paid = new Set(facts.flatMap(({ isNew, fact }) => (!isNew && fact.kind === 'paid' ? [fact.invoice] : [])));
  return facts.filter((each) => {
    if (!each.isNew || !isCharge(each)) return false;
    if (each.fact.kind === 'failed') return true;
    const isFirst = !paid.has(each.fact.invoice);
    paid.add(each.fact.invoice);
    return isFirst;
  });
}

export interface ApplyOptions extends PaidRef {
  readonly terms: PaymentTerms;
  /** Our own clock, in seconds since 1970. It sets the next look, in case news came late. */
  readonly now: number;
  /** The provider's time: as it just reported it, or ours while it is away. Default: the time of its newest event. */
  readonly at?: number;
  /** The provider is away, so it is asked again soon, whatever is due. */
  readonly isAway?: boolean;
}

/**
 * Derives what a customer has from all facts of the provider so far. Repeating this, from several processes at once or after being killed
 * anywhere, has the same result.
 * @returns the state; undefined while the provider has not reported the subscription
 */
export function applyPayments(db: Database, options: ApplyOptions): Promise<PaymentState | undefined> {
  const { provider, reference, terms, now, isAway = false } = options;
  return inTransaction(db, async (client) => {
    const paid = await findPaidByReference(client, { provider, reference }, 'FOR UPDATE');
    if (!paid) return undefined;
    const facts = await readFacts(client, provider, reference);
    const state = reducePayments(facts);
    // Charges alone do not count yet; they count with the first fact of the subscription.
    if (!state) return undefined;
    const newest = facts.reduce((latest, { at }) => Math.max(latest, at), 0);
    const at = options.at ?? newest;
    const entitlement = entitlementOf(state, graceOf(terms), at);
    const isSame = entitlement === paid.entitlement && (entitlement === 'none' || state.plan === paid.givenPlan);
    if (!isSame) await givePaidPlan(client, paid, { entitlement, plan: state.plan });
    const { status, plan, price, currency, periodEnd, cancelsAt, failingSince, next, discount, isPaused } = state;
    const given = entitlement === 'none' ? null : plan;
    const wait = nextLook(state, terms, options.at ?? Math.max(newest, now));
    // If events cannot be put in order, the provider is asked; if it cannot be asked, we wait.
    const isEvent = options.at === undefined;
    const look = isEvent && isUncertain(facts) ? 0 : isAway ? Math.min(wait, SOON_SECONDS) : wait;
    if (facts.some((each) => each.isNew && isAboutCharge(each))) await keepCharges(client, paid, chargesOf(facts));
    if (isPaused && !paid.isPaused) await releaseOverage(client, paid);
    await tellCustomer(client, paid, { charges: untold(facts), state, entitlement, terms, at });
    const members = [status, plan, price, currency, periodEnd, cancelsAt, failingSince, entitlement, given, look];
    await client.query(UPDATE, [paid.id, ...members, next?.plan ?? null, next?.price ?? null, discount, isPaused]);
    await client.query(
      'UPDATE payment_fact SET applied_at = now() WHERE provider = $1 AND paid_subscription = $2 AND id = ANY ($3) AND applied_at IS NULL',
      [provider, reference, facts.map(({ id }) => id)],
    );
    return state;
  });
}
