import { explainDecision as findDecision } from '../../../selling/requests/explain-decision';
import { listDenials } from '../../../selling/requests/list-denials';
import { type explainEndpoints } from '../../contract/explain';
import { type Handlers } from '../../http/bind-endpoint';
import { Refusal } from '../../http/refusal';
import { describeExplanation } from './describe-explanation';
import { proposeFixes } from './propose-fixes';

/** A request whose key was missing or unknown belongs to no customer. It must not be shown to a person who learns its id. */
const UNKNOWN =
  'No request with one of your keys has this ID in the last 7 days. Requests without a key, or with an unknown one, are not recorded here; their own response says what was wrong. Of the admitted requests of a busy hour only some are recorded. New requests appear a few seconds after their response.';

/** Explains why requests of the last 7 days were refused. */
export const explainHandlers: Handlers<typeof explainEndpoints> = {
  'GET /explain/:requestId': async ({ params: { requestId }, caller: { customerId } }, { db }) => {
    const decision = await findDecision(db, { requestId, customerId });
    if (!decision) throw new Refusal('request_unknown', { detail: UNKNOWN });
    return describeExplanation(decision, proposeFixes(decision));
  },

  'GET /refusals': async ({ query: { after, limit, key }, caller: { customerId } }, { db }) => {
    const { refusals, next } = await listDenials(db, { customerId, limit, keyId: key, after });
    return { refusals, next: next ?? null };
  },
};
