import { z } from 'zod';
import { runIdempotently } from '../../../../plugins/stores/postgres/idempotent-operation';
import { createToken, revokeToken } from '../../../../plugins/stores/postgres/tokens/change-tokens';
import { type TokenView, viewTokens } from '../../../../plugins/stores/postgres/tokens/token-view';
import { id } from '../../contract/fields';
import { createdToken, createTokenBody, token, tokenList, type Token } from '../../contract/tokens';
import { defineEndpoint, type Endpoint } from '../http/define-endpoint';
import { requireMember } from '../team/require-member';

function describeToken(view: TokenView): Token {
  const { id: tokenId, name, maskedToken, scopes, state } = view;
  return {
    id: tokenId,
    name,
    maskedToken,
    scopes: [...scopes],
    state,
    createdAt: view.createdAt.toISOString(),
    expiresAt: view.expiresAt.toISOString(),
    lastUsedAt: view.lastUsedAt?.toISOString() ?? null,
    madeBy: view.madeBy,
    isMakerHere: view.isMakerHere,
  };
}

const list = defineEndpoint({
  method: 'GET',
  path: '/tokens',
  needs: 'read',
  answer: tokenList,
  handler: async ({ caller: { customerId } }, { db }) => ({ tokens: (await viewTokens(db, customerId)).map(describeToken) }),
});

const create = defineEndpoint({
  method: 'POST',
  path: '/tokens',
  needs: 'tokens',
  body: createTokenBody,
  answer: createdToken,
  handler: async ({ body: { submission, ...wanted }, caller }, { db }) => {
    const { customerId, actor } = caller;
    const byUserId = requireMember(caller).userId;
    const made = await runIdempotently(db, { customerId, submission }, (client) =>
      createToken(client, { ...wanted, customerId, byUserId, actor }),
    );
    return { secret: made.secret, token: describeToken(made.token) };
  },
});

const revoke = defineEndpoint({
  method: 'POST',
  path: '/tokens/:id/revoke',
  needs: 'tokens',
  params: z.object({ id }),
  body: z.object({}),
  answer: token,
  handler: async ({ params, caller: { customerId, actor } }, { db }) =>
    describeToken(await revokeToken(db, { id: params.id, customerId, actor })),
});

/** Tokens of the management API, for people: no token makes or ends a token. */
export const tokenEndpoints: readonly Endpoint[] = [list, create, revoke];
