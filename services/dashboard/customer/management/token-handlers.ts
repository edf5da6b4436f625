import { runIdempotently } from '../../../selling/operations/idempotent-operation';
import { createToken, revokeToken, viewTokens } from '../../../selling/tokens/management-tokens';
import { type tokenEndpoints } from '../../contract/tokens';
import { type Handlers } from '../../http/bind-endpoint';
import { requireMember } from '../../http/require-member';

/** Tokens of the management API. */
export const tokenHandlers: Handlers<typeof tokenEndpoints> = {
  'GET /tokens': async ({ caller: { customerId } }, { db }) => ({ tokens: await viewTokens(db, customerId) }),

  'POST /tokens': async ({ body: { submission, ...wanted }, caller }, { db }) => {
    const { customerId, actor } = caller;
    const byUserId = requireMember(caller).userId;
    return runIdempotently(db, { customerId, submission }, (client) => createToken(client, { ...wanted, customerId, byUserId, actor }));
  },

  'POST /tokens/:id/revoke': ({ params: { id }, caller: { customerId, actor } }, { db }) => revokeToken(db, { id, customerId, actor }),
};
