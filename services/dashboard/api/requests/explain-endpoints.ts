import { explainDecision as findDecision } from '../../../../plugins/stores/postgres/decisions/explain-decision';
import { listDenials } from '../../../../plugins/stores/postgres/decisions/list-denials';
import { ServiceError } from '../../../kit/errors';
import { explanation, listRefusalsQuery, refusalPage, requestIdParams } from '../../contract/explain';
import { defineEndpoint, type Endpoint } from '../http/define-endpoint';
import { describeExplanation } from './describe-explanation';
import { proposeFixes } from './propose-fixes';

/** A request whose key was missing or unknown belongs to nobody: it must not be shown to whoever learns its id. */
const UNKNOWN =
  'No request with one of your keys has this ID in the last 7 days. Requests without a key, or with an unknown one, are not recorded here; their own response says what was wrong. Of the admitted requests of a busy hour only some are recorded. New requests appear a few seconds after their response.';

const explain = defineEndpoint({
  method: 'GET',
  path: '/explain/:requestId',
  needs: 'read',
  params: requestIdParams,
  answer: explanation,
  handler: async ({ params: { requestId }, caller: { customerId } }, { db }) => {
    const decision = await findDecision(db, { requestId, customerId });
    if (!decision) throw new ServiceError('not_found', { code: 'request_unknown', detail: UNKNOWN });
    return describeExplanation(decision, proposeFixes(decision));
  },
});

const refusals = defineEndpoint({
  method: 'GET',
  path: '/refusals',
  needs: 'read',
  query: listRefusalsQuery,
  answer: refusalPage,
  handler: async ({ query: { after, limit, key }, caller: { customerId } }, { db }) => {
    const page = await listDenials(db, { customerId, limit, keyId: key, after });
    return {
      refusals: page.refusals.map(({ requestId, at, code, product, keyId, maskedKey, callerAddress, originHost }) => ({
        requestId,
        at: at.toISOString(),
        code,
        product,
        keyId,
        maskedKey,
        callerAddress,
        originHost,
      })),
      next: page.next ?? null,
    };
  },
});

/** Why requests were refused, for 7 days. */
export const explainEndpoints: readonly Endpoint[] = [explain, refusals];
