import { explainRequest } from '../../../selling/requests/explain';
import { findRequest } from '../../../selling/requests/find-request';
import { listDenials } from '../../../selling/requests/list-denials';
import { type explainEndpoints } from '../../contract/explain';
import { type Handlers } from '../../http/bind-endpoint';
import { Refusal } from '../../http/refusal';

const UNKNOWN =
  'None of your requests in the last 7 days has this ID. Only a sample is recorded of the admitted requests of a busy hour, and of requests without a known key. New requests appear a few seconds after their response.';

/** Explains why requests of the last 7 days were refused. */
export const explainHandlers: Handlers<typeof explainEndpoints> = {
  'GET /explain/:requestId': async ({ params: { requestId }, caller: { customerId } }, { db, clock }) => {
    const request = await findRequest(db, { requestId, customerId });
    if (!request) throw new Refusal('request_unknown', { detail: UNKNOWN });
    return explainRequest(request, { reader: 'customer', nowMs: clock.now() });
  },

  'GET /refusals': async ({ query: { after, limit, key }, caller: { customerId } }, { db }) => {
    const { refusals, next } = await listDenials(db, { customerId, limit, keyId: key, after });
    return { refusals, next: next ?? null };
  },
};
