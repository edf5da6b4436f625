import { type PoolClient } from 'pg';
import { type Entitlement } from '../paid-plans/payment-state';
import { writeAudit } from '../customers/write-audit';
import { endOwnPrice } from './limit-terms';
import { PAYMENT_ACTOR, restorePaid, suspendUnpaid } from '../suspensions/suspend';
import { type PaidSubscription } from '../paid-plans/paid-subscriptions';
import { type PaidOwner } from './payment-facts';

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
export async function givePaidPlan(
  client: PoolClient,
  paid: PaidSubscription,
  { entitlement, plan }: { entitlement: Entitlement; plan: string },
) {
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
