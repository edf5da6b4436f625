import { isDeepStrictEqual } from 'node:util';
import { type PoolClient } from 'pg';
import { includedLimits } from '../catalogue/included-limits';
import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { type Actor, writeAudit } from '../customers/write-audit';
import { OperationRefused } from '../operations/operation-refused';
import { enqueue } from '../outbox/outbox';
import { requestDetails } from './ask-for-plan';
import { changeSubscription } from './change-subscription';
import { lockPlanRequest, type PlanRequestView, viewPlanRequest } from './plan-request-view';
import { subscribe } from './subscribe';
import { lockSubscription } from './subscription-view';

export interface AnswerOptions {
  /** Id of the request. */
  readonly id: string;
  /** The operator, for the audit log. */
  readonly actor: Actor;
}

const MAX_REASON = 500;
const ANSWER = 'UPDATE plan_request SET state = $2, reason = $3, answered_at = now() WHERE id = $1';
const OFFERED = `SELECT ${includedLimits('plan')}, price::text AS price, currency FROM plan WHERE product_id = $1 AND name = $2 AND active`;

/** The customer is told by mail. */
async function answer(client: PoolClient, { id, state, reason }: Pick<PlanRequestView, 'id' | 'state' | 'reason'>): Promise<void> {
  await client.query(ANSWER, [id, state, reason]);
  await enqueue(client, { kind: 'plan_answer', subjects: [id], detail: '' });
}

/** Locks the subscription, then the request: in the same order as cancelling a subscription does. */
async function lockBoth(client: PoolClient, id: string): Promise<PlanRequestView> {
  const { subscriptionId } = await viewPlanRequest(client, { id });
  if (subscriptionId !== null) await lockSubscription(client, { id: subscriptionId });
  return lockPlanRequest(client, { id });
}

/** The customer agreed to figures, not to a name. */
async function requireSameTerms(client: PoolClient, request: PlanRequestView): Promise<void> {
  const { product, plan, daily, monthly, price, currency, overage } = request;
  const { rows } = await client.query(OFFERED, [product, plan]);
  if (isDeepStrictEqual(rows[0], { daily, monthly, overage, price, currency })) return;
  const advice = 'decline it, and the customer can ask again';
  throw new OperationRefused('plan_changed', `plan "${plan}" of "${product}" is not what it was when it was asked for; ${advice}`);
}

/**
 * Gives the customer the requested plan from the next request on; nodes are notified as with any change. A request that is approved already
 * stays so.
 * @throws OperationRefused `request_unknown`, `request_closed` if it was declined or withdrawn, `plan_changed` if limits or price have
 * changed, `consent_required` if the product's text has changed, and all that subscribing refuses, such as `plan_paid`
 * @param options.paymentGoesOn see `ChangeSubscriptionOptions`
 */
export function approvePlanRequest(
  db: Database,
  { id, actor, paymentGoesOn = false }: AnswerOptions & { readonly paymentGoesOn?: boolean },
): Promise<PlanRequestView> {
  return inTransaction(db, async (client) => {
    const request = await lockBoth(client, id);
    if (request.state === 'approved') return request;
    requireOpen(request);
    await requireSameTerms(client, request);
    const { customerId, product, plan, subscriptionId, currentPlan } = request;
    await answer(client, { id, state: 'approved', reason: '' });
    const subject = { kind: 'customer', id: customerId } as const;
    await writeAudit(client, { actor, action: 'subscription.approve', subject, details: requestDetails(request) });
    // The customer agreed with the request. An operator does not agree to another text for the customer.
    const wish = { plan, actor, consent: false, paymentGoesOn };
    if (subscriptionId === null) await subscribe(client, { ...wish, customerId, product, keepsLimits: true, whenSubscribed: 'join' });
    else if (currentPlan !== plan) await changeSubscription(client, { ...wish, id: subscriptionId });
    return viewPlanRequest(client, { id });
  });
}

/**
 * Declines a request, and leaves the subscription as it is. A declined request stays so, with its first reason.
 * @param options.reason for the customer to read
 * @throws OperationRefused `request_unknown`, `request_closed` if it was approved or withdrawn, `reason_malformed`
 */
export function declinePlanRequest(
  db: Database,
  { id, actor, reason }: AnswerOptions & { readonly reason: string },
): Promise<PlanRequestView> {
  const trimmed = reason.trim();
  if (trimmed === '' || trimmed.length > MAX_REASON || trimmed.includes('\0')) {
    return Promise.reject(new OperationRefused('reason_malformed', `a reason must have 1 to ${MAX_REASON} characters`));
  }
  return inTransaction(db, async (client) => {
    const request = await lockPlanRequest(client, { id });
    if (request.state === 'declined') return request;
    requireOpen(request);
    await answer(client, { id, state: 'declined', reason: trimmed });
    const details = { ...requestDetails(request), reason: trimmed };
    const subject = { kind: 'customer', id: request.customerId } as const;
    await writeAudit(client, { actor, action: 'subscription.decline', subject, details });
    return viewPlanRequest(client, { id });
  });
}

function requireOpen({ state }: PlanRequestView): void {
  if (state !== 'open') throw new OperationRefused('request_closed', `the request was ${state} already`);
}
