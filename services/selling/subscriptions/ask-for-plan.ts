import { type Database, inTransaction } from '../../../plugins/stores/postgres/database';
import { requireCustomer } from '../customers/find-customer';
import { type Actor, writeAudit } from '../customers/write-audit';
import { OperationRefused } from '../operations/operation-refused';
import { lockPlanRequest, type PlanRequestRef, type PlanRequestView, viewPlanRequest } from './plan-request-view';
import { type Consent, requireConsent } from './require-consent';
import { requireOfferedPlan } from './subscription-terms';

export interface AskForPlanOptions {
  /** Email address or id. */
  readonly customer: string;
  readonly product: string;
  /** Case does not matter. */
  readonly plan: string;
  /** See `SubscribeOptions`. */
  readonly consent?: Consent;
  readonly actor: Actor;
}

/** One at a time: of two concurrent requests the second finds the first. */
const INSERT = `
INSERT INTO plan_request (customer_id, product_id, plan_name, daily, monthly, price, currency, overage)
SELECT $1, product_id, name, daily, monthly, price, currency, overage FROM plan WHERE product_id = $2 AND name = $3
ON CONFLICT (customer_id, product_id) WHERE state = 'open' DO NOTHING RETURNING id`;

const FIND_OPEN = "SELECT id FROM plan_request WHERE customer_id = $1 AND product_id = $2 AND state = 'open'";
const FIND_CURRENT = "SELECT plan_name FROM subscription WHERE customer_id = $1 AND product_id = $2 AND state <> 'cancelled'";
const FIND_APPROVAL = 'SELECT approval FROM plan WHERE product_id = $1 AND name = $2';

/** For the audit log. Beginnings and ends of a request are both listed under its customer. */
export function requestDetails({ id, product, plan, price, currency }: PlanRequestView): Readonly<Record<string, unknown>> {
  return { request: id, product, plan, price: `${price} ${currency}` };
}

/**
 * Requests a plan of an operator, on its present terms. The subscription stays as it is. A repeated request changes nothing.
 * @throws OperationRefused `customer_unknown`, `product_unknown`, `product_without_limits`, `product_not_offered`, `plan_unknown`,
 * `plan_needs_no_approval`, `plan_current`, `request_exists`, `consent_required`, `consent_changed`
 */
export function askForPlan(db: Database, options: AskForPlanOptions): Promise<PlanRequestView> {
  const { product, actor } = options;
  return inTransaction(db, async (client) => {
    const { id: customerId } = await requireCustomer(client, options.customer);
    const plan = await requireOfferedPlan(client, product, options.plan);
    const { rows: offered } = await client.query<{ approval: string }>(FIND_APPROVAL, [product, plan]);
    if (offered[0]?.approval !== 'request') {
      throw new OperationRefused('plan_needs_no_approval', `plan "${plan}" of "${product}" can be taken without asking`);
    }
    const { rows: current } = await client.query<{ plan_name: string | null }>(FIND_CURRENT, [customerId, product]);
    if (current[0]?.plan_name === plan) {
      throw new OperationRefused('plan_current', `the subscription to "${product}" is on plan "${plan}" already`);
    }
    await requireConsent(client, { customerId, product, consent: options.consent ?? true, actor });
    const { rows: made } = await client.query<{ id: string }>(INSERT, [customerId, product, plan]);
    if (made[0]) {
      const request = await viewPlanRequest(client, { id: made[0].id });
      const details = requestDetails(request);
      await writeAudit(client, { actor, action: 'subscription.request', subject: { kind: 'customer', id: customerId }, details });
      return request;
    }
    const { rows: open } = await client.query<{ id: string }>(FIND_OPEN, [customerId, product]);
    const request = await viewPlanRequest(client, { id: open[0]?.id ?? '' });
    if (request.plan === plan) return request;
    throw new OperationRefused('request_exists', `plan "${request.plan}" of "${product}" is asked for already; withdraw that first`);
  });
}

/**
 * Withdraws an open request; a withdrawn one stays so.
 * @throws OperationRefused `request_unknown`, `request_closed` if it was answered
 */
export function withdrawPlanRequest(db: Database, { actor, ...ref }: PlanRequestRef & { readonly actor: Actor }): Promise<PlanRequestView> {
  return inTransaction(db, async (client) => {
    const request = await lockPlanRequest(client, ref);
    if (request.state === 'withdrawn') return request;
    if (request.state !== 'open') throw new OperationRefused('request_closed', `the request was ${request.state} already`);
    await client.query("UPDATE plan_request SET state = 'withdrawn', answered_at = now() WHERE id = $1", [request.id]);
    const subject = { kind: 'customer', id: request.customerId } as const;
    await writeAudit(client, { actor, action: 'subscription.withdraw', subject, details: requestDetails(request) });
    return viewPlanRequest(client, ref);
  });
}
