import { z } from 'zod';
import { approvePlanRequest, declinePlanRequest } from '../../../../plugins/stores/postgres/subscriptions/answer-plan-request';
import { listOpenRequests, type PlanRequestView } from '../../../../plugins/stores/postgres/subscriptions/plan-request-view';
import { emptyReply } from '../../../kit/service/reply';
import { id } from '../../contract/fields';
import { declineBody, type OpenPlanRequest, planRequestPage, planRequestsQuery } from '../../contract/operator-customers';
import { defineOperatorEndpoint, type OperatorEndpoint } from './define-operator-endpoint';

const params = z.object({ id });

function describeRequest(request: PlanRequestView): OpenPlanRequest {
  const { id: requestId, customerId, customer, title, plan, currentPlan, daily, monthly, price, currency, askedAt } = request;
  return { id: requestId, customerId, customer, title, plan, currentPlan, daily, monthly, price, currency, askedAt: askedAt.toISOString() };
}

const list = defineOperatorEndpoint({
  method: 'GET',
  path: '/operator/plan-requests',
  query: planRequestsQuery,
  answer: planRequestPage,
  handler: async ({ query: { customer: customerId, after, limit } }, { db }) => {
    const { requests, next } = await listOpenRequests(db, { customerId, after, limit });
    return { requests: requests.map(describeRequest), next: next ?? null };
  },
});

const approve = defineOperatorEndpoint({
  method: 'POST',
  path: '/operator/plan-requests/:id/approve',
  params,
  body: z.object({}),
  handler: async ({ params: { id: requestId }, caller: { actor } }, { db }) => {
    await approvePlanRequest(db, { id: requestId, actor });
    return emptyReply(204);
  },
});

const decline = defineOperatorEndpoint({
  method: 'POST',
  path: '/operator/plan-requests/:id/decline',
  params,
  body: declineBody,
  handler: async ({ params: { id: requestId }, body: { reason }, caller: { actor } }, { db }) => {
    await declinePlanRequest(db, { id: requestId, reason, actor });
    return emptyReply(204);
  },
});

/** Plans that customers asked for, and the provider's answers. */
export const planRequestEndpoints: readonly OperatorEndpoint[] = [list, approve, decline];
