import { z } from 'zod';
import { askForPlan, withdrawPlanRequest } from '../../../../plugins/stores/postgres/subscriptions/ask-for-plan';
import { type PlanRequestView } from '../../../../plugins/stores/postgres/subscriptions/plan-request-view';
import { id } from '../../contract/fields';
import { askForPlanBody, type PlanRequest, planRequest } from '../../contract/plans';
import { defineEndpoint, type Endpoint } from '../http/define-endpoint';
import { refuseOtherTerms } from './plan-terms';

export function describeRequest(view: PlanRequestView): PlanRequest {
  const { product, plan, daily, monthly, price, currency, state, reason, askedAt, answeredAt } = view;
  const times = { askedAt: askedAt.toISOString(), answeredAt: answeredAt?.toISOString() ?? null };
  return { id: view.id, product, plan, daily, monthly, price, currency, state, reason, ...times };
}

const ask = defineEndpoint({
  method: 'POST',
  path: '/plan-requests',
  needs: 'plans',
  body: askForPlanBody,
  answer: planRequest,
  handler: async ({ body: { product, plan, terms }, caller: { customerId, actor } }, deps) => {
    await refuseOtherTerms({ product, plan, terms }, deps);
    return describeRequest(await askForPlan(deps.db, { customer: customerId, product, plan, actor }));
  },
});

const withdraw = defineEndpoint({
  method: 'POST',
  path: '/plan-requests/:id/withdraw',
  needs: 'plans',
  params: z.object({ id }),
  body: z.object({}),
  answer: planRequest,
  handler: async ({ params: { id: wanted }, caller: { customerId, actor } }, { db }) =>
    describeRequest(await withdrawPlanRequest(db, { id: wanted, customerId, actor })),
});

/** Plans that the provider gives on request. */
export const planRequestEndpoints: readonly Endpoint[] = [ask, withdraw];
