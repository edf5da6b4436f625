import { type PoolClient } from 'pg';
import { type AuditAction } from '../customers/audit-actions';
import { type SubscriptionState } from '../../../plugins/core/ports';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { OperationRefused } from '../operations/operation-refused';
import { requireUnpaid } from '../paid-plans/paid-subscriptions';
import { requireChangesLeft } from './require-changes-left';
import { type Consent, requireConsent } from './require-consent';
import { checkOwnLimits, type OwnLimits, requirePlan, requireSubscribable, type SubscriptionTerms } from './subscription-terms';
import { lockSubscription, type SubscriptionView } from './subscription-view';
import { type Actor, writeAudit } from '../customers/write-audit';
import { requireCustomer } from '../customers/find-customer';

interface Row {
  readonly id: string;
  readonly plan_name: string | null;
  readonly state: SubscriptionState;
}

export interface SubscribeOptions extends SubscriptionTerms {
  readonly customerId: string;
  readonly product: string;
  readonly actor: Actor;
  /** If the customer has the product already (not cancelled): join it, or refuse. */
  readonly whenSubscribed: 'join' | 'refuse';
  /**
   * True for a customer's act: limits that an operator set for the subscription survive a cancellation. Otherwise anybody could get rid of
   * them by cancelling. Default false.
   */
  readonly keepsLimits?: boolean | undefined;
  /** See `ChangeSubscriptionOptions`. */
  readonly paymentGoesOn?: boolean | undefined;
  /** Whether the actor gives the consent that the product asks for. Default true: an operator's act is recorded as the operator's. */
  readonly consent?: Consent | undefined;
}

const INSERT = `
INSERT INTO subscription (customer_id, product_id, plan_name, daily_override, monthly_override, rate_override) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (customer_id, product_id) DO NOTHING RETURNING id`;

const FIND = 'SELECT id, plan_name, state FROM subscription WHERE customer_id = $1 AND product_id = $2 FOR UPDATE';

/**
 * A cancelled subscription comes back on the new terms: its former plan ended with the cancellation, and so did its limits unless they are
 * kept.
 */
const REACTIVATE = `
UPDATE subscription SET state = 'active', plan_name = $2, daily_override = COALESCE($3, CASE WHEN $6 THEN daily_override END),
  monthly_override = COALESCE($4, CASE WHEN $6 THEN monthly_override END),
  rate_override = COALESCE($5, CASE WHEN $6 THEN rate_override END), updated_at = now() WHERE id = $1`;

const JOIN = `
UPDATE subscription SET plan_name = COALESCE($2, plan_name), daily_override = COALESCE($3, daily_override),
  monthly_override = COALESCE($4, monthly_override), rate_override = COALESCE($5, rate_override), updated_at = now() WHERE id = $1`;

/**
 * Gives a customer a product: a new subscription, a cancelled one reactivated, or the existing one joined. Runs in the caller's
 * transaction.
 * @returns the subscription's id
 * @throws OperationRefused `product_unknown`, `product_without_limits`, `product_not_offered`, `plan_unknown`, `plan_differs`, `subscription_exists`,
 * `limit_malformed`, `change_limit_reached`, `consent_required`, `consent_changed`, `plan_paid`
 */
export async function subscribe(client: PoolClient, options: SubscribeOptions): Promise<string> {
  const { customerId, product, actor } = options;
  checkOwnLimits(options);
  const own = givenLimits(options);
  await requireSubscribable(client, product);
  const plan = options.plan === undefined ? null : await requirePlan(client, product, options.plan);
  const { rows: inserted } = await client.query<{ id: string }>(INSERT, [customerId, product, plan, ...valuesOf(own)]);
  const details = { product, plan, ...own };
  const consentWish = { customerId, product, consent: options.consent ?? true, actor };
  if (inserted[0]) await requireConsent(client, consentWish);
  if (inserted[0]) return audited(client, { id: inserted[0].id, action: 'subscription.create', actor, details });
  const { rows } = await client.query<Row>(FIND, [customerId, product]);
  const existing = rows[0];
  if (!existing) throw new Error('a subscription vanished while it was being joined');
  if (existing.state === 'cancelled') {
    if (!options.paymentGoesOn) await requireUnpaid(client, { customerId, product });
    if (options.keepsLimits) await requireChangesLeft(client, { id: existing.id, customerId });
    await requireConsent(client, consentWish);
    await client.query(REACTIVATE, [existing.id, plan, ...valuesOf(own), options.keepsLimits ?? false]);
    return audited(client, { id: existing.id, action: 'subscription.reactivate', actor, details });
  }
  if (options.whenSubscribed === 'refuse') {
    throw new OperationRefused('subscription_exists', `the customer has a subscription to "${product}" already (${existing.id})`);
  }
  // A key is added to a subscription that may be older than the text.
  await requireConsent(client, consentWish);
  return join(client, existing, { plan, own, options });
}

function givenLimits({ daily = null, monthly = null, rate = null }: SubscriptionTerms): OwnLimits {
  return { daily, monthly, rate };
}

/** Values in the order of the statements. */
const valuesOf = ({ daily, monthly, rate }: OwnLimits): OwnLimits[keyof OwnLimits][] => [daily, monthly, rate];

async function join(
  client: PoolClient,
  existing: Row,
  { plan, own, options }: { plan: string | null; own: OwnLimits; options: SubscribeOptions },
): Promise<string> {
  if (plan !== null && existing.plan_name !== null && existing.plan_name !== plan) {
    const advice = `change it with "subscription change ${existing.id} --plan ${plan}"`;
    throw new OperationRefused('plan_differs', `the subscription to "${options.product}" is on plan "${existing.plan_name}"; ${advice}`);
  }
  const { product, actor } = options;
  const changes = valuesOf(own).some((limit) => limit !== null) || (plan !== null && existing.plan_name === null);
  if (!changes) return existing.id;
  // A paid plan fell back to the base limits because a charge failed.
  if (plan !== null && existing.plan_name === null && !options.paymentGoesOn) await requireUnpaid(client, options);
  await client.query(JOIN, [existing.id, plan, ...valuesOf(own)]);
  return audited(client, { id: existing.id, action: 'subscription.change', actor, details: { product, plan, ...own } });
}

async function audited(
  client: PoolClient,
  { id, action, actor, details }: { id: string; action: AuditAction; actor: Actor; details: Readonly<Record<string, unknown>> },
): Promise<string> {
  await writeAudit(client, { actor, action, subject: { kind: 'subscription', id }, details });
  return id;
}

export interface CreateSubscriptionOptions extends SubscriptionTerms {
  /** Email address or id. */
  readonly customer: string;
  readonly product: string;
  /** See `SubscribeOptions`. */
  readonly keepsLimits?: boolean;
  readonly paymentGoesOn?: boolean;
  readonly consent?: Consent;
  readonly actor: Actor;
}

/**
 * Subscribes a customer to a product; a cancelled subscription is reactivated on the new terms.
 * @throws OperationRefused `customer_unknown`, `product_unknown`, `product_without_limits`, `product_not_offered`, `plan_unknown`, `subscription_exists`,
 * `limit_malformed`
 */
export function createSubscription(db: Database, options: CreateSubscriptionOptions): Promise<SubscriptionView> {
  return inTransaction(db, async (client) => {
    const { id: customerId } = await requireCustomer(client, options.customer);
    const id = await subscribe(client, { ...options, customerId, whenSubscribed: 'refuse' });
    return lockSubscription(client, { id });
  });
}
