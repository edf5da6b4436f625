import { type PoolClient } from 'pg';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { type SubscriptionState } from '../../../plugins/core/ports';
import { OperationRefused } from '../operations/operation-refused';
import { VersionConflict, versionOf } from '../operations/version';
import { requireUnpaid } from '../paid-plans/paid-subscriptions';
import { type Consent, requireConsent } from './require-consent';
import { checkLimit, checkOwnLimits, type OwnLimits, type OwnLimitsWish, requireOfferedPlan } from './subscription-terms';
import { lockSubscription, type SubscriptionRef, type SubscriptionView } from './subscription-view';
import { type Actor, writeAudit } from '../customers/write-audit';
import { type AuditAction } from '../customers/audit-actions';

export interface ChangeSubscriptionOptions extends SubscriptionRef, OwnLimitsWish {
  /** Null leaves the plan for the product's base limits. */
  readonly plan?: string | null;
  /** For another plan; see `SubscribeOptions`. */
  readonly consent?: Consent;
  /** The customer pays for its plan in advance, and goes on paying it beside another plan. Default false: then the plan stays. */
  readonly paymentGoesOn?: boolean;
  readonly actor: Actor;
}

/** Own limits belong to one plan: the database puts them aside, and restores those that were set for the new plan. */
const SET_PLAN = `
UPDATE subscription SET plan_name = $2, updated_at = now() WHERE id = $1
RETURNING daily_override AS daily, monthly_override AS monthly, rate_override AS rate`;
const SET_LIMITS = `
UPDATE subscription SET daily_override = $2, monthly_override = $3, rate_override = $4, updated_at = now() WHERE id = $1`;

const NONE: OwnLimits = { daily: null, monthly: null, rate: null };

/** @returns the own limits that hold then: the given ones, together with earlier ones; else those of the plan */
async function update(client: PoolClient, { before, plan, wish }: Update): Promise<OwnLimits> {
  const { rows } = await client.query<OwnLimits>(SET_PLAN, [before.id, plan]);
  const { daily, monthly, rate } = wish;
  if (daily === undefined && monthly === undefined && rate === undefined) return rows[0] ?? NONE;
  const given = {
    daily: daily === undefined ? before.dailyOverride : daily,
    monthly: monthly === undefined ? before.monthlyOverride : monthly,
    rate: rate === undefined ? before.rateOverride : rate,
  };
  await client.query(SET_LIMITS, [before.id, given.daily, given.monthly, given.rate]);
  return given;
}

interface Update {
  readonly wish: OwnLimitsWish;
  readonly before: SubscriptionView;
  readonly plan: string | null;
}

/** @throws OperationRefused `subscription_cancelled` */
function requireNotCancelled({ id, state }: SubscriptionView): void {
  if (state !== 'cancelled') return;
  throw new OperationRefused('subscription_cancelled', `subscription "${id}" is cancelled; create it again instead`);
}

/**
 * Changes plan or limits; absent members stay, but own limits do not move to another plan. It counts from the next request, and what was
 * used today and this month stays used.
 * @throws OperationRefused `subscription_unknown`, `subscription_cancelled`, `plan_unknown`, `product_unknown`, `product_without_limits`,
 * `product_not_offered`, `limit_malformed`, `consent_required`, `consent_changed`, `plan_paid`
 */
export function changeSubscription(db: Database, options: ChangeSubscriptionOptions): Promise<SubscriptionView> {
  checkOwnLimits(options);
  return inTransaction(db, async (client) => {
    const before = await lockSubscription(client, options);
    requireNotCancelled(before);
    const asked = options.plan === undefined ? before.plan : options.plan;
    const plan = asked === null || asked === before.plan ? asked : await requireOfferedPlan(client, before.product, asked);
    if (plan !== before.plan) {
      const { customerId, product } = before;
      if (!options.paymentGoesOn) await requireUnpaid(client, before);
      await requireConsent(client, { customerId, product, consent: options.consent ?? true, actor: options.actor });
    }
    const own = await update(client, { before, plan, wish: options });
    await writeAudit(client, {
      actor: options.actor,
      action: 'subscription.change',
      subject: { kind: 'subscription', id: before.id },
      details: {
        before: { plan: before.plan, daily: before.dailyOverride, monthly: before.monthlyOverride, rate: before.rateOverride },
        after: { plan, ...own },
      },
    });
    return lockSubscription(client, before);
  });
}

/**
 * Sets or removes a customer's own cap of requests a day. A cap that is not below the limit has no effect. It counts from the next request;
 * what was used stays used.
 * @param options.cap null: none
 * @throws OperationRefused `subscription_unknown`, `subscription_cancelled`, `limit_malformed`
 */
export function setDailyCap(
  db: Database,
  options: SubscriptionRef & { readonly cap: number | null; readonly actor: Actor },
): Promise<SubscriptionView> {
  const { cap, actor } = options;
  checkLimit(cap, 'daily');
  return inTransaction(db, async (client) => {
    const before = await lockSubscription(client, options);
    requireNotCancelled(before);
    if (before.dailyCap === cap) return before;
    await client.query('UPDATE subscription SET daily_cap = $2, updated_at = now() WHERE id = $1', [before.id, cap]);
    const details = { before: { dailyCap: before.dailyCap }, after: { dailyCap: cap } };
    await writeAudit(client, { actor, action: 'subscription.change', subject: { kind: 'subscription', id: before.id }, details });
    return lockSubscription(client, before);
  });
}

const ACTIONS: Record<SubscriptionState, AuditAction> = {
  active: 'subscription.resume',
  paused: 'subscription.pause',
  cancelled: 'subscription.cancel',
};

/**
 * Pauses, resumes or cancels. A subscription that is in the state already is left as it is; a cancelled one comes back only by being
 * created again.
 * @param options.consent for what resumes; see `SubscribeOptions`
 * @throws OperationRefused `subscription_unknown`, `subscription_cancelled`, `consent_required`, `consent_changed`, and `plan_paid` for what a
 * payment provider would go on charging for
 */
export function setSubscriptionState(
  db: Database,
  options: SubscriptionRef & { readonly state: SubscriptionState; readonly actor: Actor; readonly consent?: Consent | undefined },
): Promise<SubscriptionView> {
  const { state, actor, consent = true } = options;
  return inTransaction(db, async (client) => {
    const before = await lockSubscription(client, options);
    if (before.state === state) return before;
    requireNotCancelled(before);
    if (state === 'cancelled') await requireUnpaid(client, before);
    if (state === 'active') await requireConsent(client, { customerId: before.customerId, product: before.product, consent, actor });
    await client.query('UPDATE subscription SET state = $2, updated_at = now() WHERE id = $1', [before.id, state]);
    await writeAudit(client, {
      actor,
      action: ACTIONS[state],
      subject: { kind: 'subscription', id: before.id },
      details: { before: before.state },
    });
    return { ...before, state };
  });
}

/** Changes with everything that a person can change on a subscription, but not with its use. */
export function subscriptionVersion(view: SubscriptionView): string {
  const { plan, state, dailyOverride, monthlyOverride, rateOverride, priceOverride, dailyCap } = view;
  return versionOf([plan, state, dailyOverride, monthlyOverride, rateOverride, priceOverride, dailyCap]);
}

export class SubscriptionChanged extends VersionConflict {
  /** @param current the subscription as it is now */
  constructor(readonly current: SubscriptionView) {
    super();
  }
}

/**
 * Runs a change of a subscription only when it is still as the caller saw it. It stays locked until the change has committed.
 * @throws SubscriptionChanged; OperationRefused `subscription_unknown`; what `work` throws
 */
export function changeSubscriptionOptimistically<T>(
  db: Database,
  subscription: SubscriptionRef & { readonly version: string },
  work: (client: PoolClient, before: SubscriptionView) => Promise<T>,
): Promise<T> {
  return inTransaction(db, async (client) => {
    const before = await lockSubscription(client, subscription);
    if (subscriptionVersion(before) !== subscription.version) throw new SubscriptionChanged(before);
    return work(client, before);
  });
}
