import { runSellersIdempotently } from '../../../selling/operations/idempotent-operation';
import { createSellerToken, revokeSellerToken, viewSellerTokens } from '../../../selling/tokens/seller-tokens';
import { type sellerTokenEndpoints } from '../../contract/tokens';
import { type Handlers } from '../../http/bind-endpoint';

/** Tokens of the seller's API. */
export const sellerTokenHandlers: Handlers<typeof sellerTokenEndpoints> = {
  'GET /operator/tokens': async (_call, { db }) => ({ tokens: await viewSellerTokens(db) }),

  'POST /operator/tokens': ({ body: { submission, ...wanted }, caller: { actor, ...operator } }, { db }) =>
    runSellersIdempotently(db, submission, (client) => createSellerToken(client, { ...wanted, operator, actor })),

  'POST /operator/tokens/:id/revoke': ({ params: { id }, caller: { id: operatorId, actor } }, { db }) =>
    revokeSellerToken(db, { id, operatorId, actor }),
};
