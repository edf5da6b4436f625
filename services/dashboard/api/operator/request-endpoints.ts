import { explainDecision as findDecision } from '../../../../plugins/stores/postgres/decisions/explain-decision';
import { MOST_OF_ALL } from '../../../../plugins/stores/postgres/operators/most-of-all';
import { searchRefusals } from '../../../../plugins/stores/postgres/operators/search-refusals';
import { ServiceError } from '../../../kit/errors';
import { explanation, requestIdParams } from '../../contract/explain';
import { refusalsOfAll, searchRefusalsQuery } from '../../contract/operator';
import { describeExplanation } from '../requests/describe-explanation';
import { defineOperatorEndpoint, type OperatorEndpoint } from './define-operator-endpoint';

const UNKNOWN = 'No request has this ID in the last 7 days. New requests appear a few seconds after their response.';

const search = defineOperatorEndpoint({
  method: 'GET',
  path: '/operator/requests',
  query: searchRefusalsQuery,
  answer: refusalsOfAll,
  handler: async ({ query: { customer: customerId, ...query } }, { db }) => {
    const isOfAll = [customerId, query.product, query.code].every((each) => each === undefined);
    const limit = isOfAll ? Math.min(query.limit, MOST_OF_ALL) : query.limit;
    const { refusals, next } = await searchRefusals(db, { ...query, customerId, limit });
    return { refusals: refusals.map((refusal) => ({ ...refusal, at: refusal.at.toISOString() })), next: next ?? null };
  },
});

const explain = defineOperatorEndpoint({
  method: 'GET',
  path: '/operator/requests/:requestId',
  params: requestIdParams,
  answer: explanation,
  handler: async ({ params: { requestId } }, { db }) => {
    const decision = await findDecision(db, { requestId });
    if (!decision) throw new ServiceError('not_found', { code: 'request_unknown', detail: UNKNOWN });
    // What mends it is the customer's to do.
    return describeExplanation(decision, []);
  },
});

/** Refused requests of everybody, and why. */
export const requestEndpoints: readonly OperatorEndpoint[] = [search, explain];
