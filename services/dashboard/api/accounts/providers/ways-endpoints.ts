import { type FastifyReply, type FastifyRequest } from 'fastify';
import { disconnectWay, listWays } from '../../../../../plugins/stores/postgres/customers/ways-to-sign-in';
import { invalidInput } from '../../../../kit/errors';
import { connectBody, disconnectBody, wayParams, ways } from '../../../contract/sign-in';
import { readBody } from '../../http/bind-endpoint';
import { type Route } from '../../http/define-endpoint';
import { askAuth, send } from '../auth-handler';
import { definePersonEndpoint, findPerson, type Person, type PersonTools, takePersonWrite } from '../person';

/** By which providers and passkeys the own account opens, beside its password; and taking a provider away. */
export function waysEndpoints({ providers }: Pick<PersonTools, 'providers'>): readonly Route<Person>[] {
  const nameOf = (providerId: string): string => providers.find(({ id }) => id === providerId)?.name ?? providerId;
  const list = definePersonEndpoint({
    method: 'GET',
    path: '/account/ways',
    answer: ways,
    handler: async ({ caller: { userId } }, { db }) => {
      const { hasPassword, connected, passkeys } = await listWays(db, userId);
      return {
        hasPassword,
        connected: connected.map(({ id, providerId, since }) => ({ id, name: nameOf(providerId), since: since.toISOString() })),
        passkeys: passkeys.map(({ createdAt, lastUsedAt, ...passkey }) => ({
          ...passkey,
          createdAt: createdAt.toISOString(),
          lastUsedAt: lastUsedAt?.toISOString() ?? null,
        })),
        offered: providers.filter(({ id }) => !connected.some(({ providerId }) => providerId === id)).map(({ id, name }) => ({ id, name })),
      };
    },
  });
  const disconnect = definePersonEndpoint({
    method: 'DELETE',
    path: '/account/ways/:id',
    params: wayParams,
    body: disconnectBody,
    handler: async ({ caller, params, body }, { db }) => {
      await caller.confirm(body.password);
      await disconnectWay(db, { ...caller, wayId: params.id, nameOf });
      return {};
    },
  });
  return [list, disconnect];
}

/** Begins to connect a provider: answers where to go, from where the provider leads back to the account page. */
export function connectHandler(tools: PersonTools): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  return async (request, reply) => {
    const caller = await findPerson(request, reply, tools);
    await takePersonWrite(tools.db, caller);
    const { provider, password } = readBody(request, connectBody);
    if (!tools.providers.some(({ id }) => id === provider)) throw invalidInput([{ field: 'provider', message: 'is not offered here' }]);
    await caller.confirm(password);
    const body = { provider, callbackURL: '/account', errorCallbackURL: '/account', disableRedirect: true };
    return send(await askAuth(request, { method: 'POST', path: '/api/auth/link-social', body }, tools), reply);
  };
}
