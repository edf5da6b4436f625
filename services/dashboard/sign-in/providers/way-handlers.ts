import { disconnectWay, listWays, removePasskey } from '../../../selling/customers/ways-to-sign-in';
import { invalidInput } from '../../../kit/errors';
import { type wayEndpoints } from '../../contract/sign-in';
import { type Handlers } from '../../http/bind-endpoint';
import { askAuth, passOn } from '../auth-handler';
import { type PersonTools } from '../person';

/** Providers and passkeys that open the own account, beside its password. */
export function wayHandlers(tools: PersonTools): Handlers<typeof wayEndpoints> {
  const { providers } = tools;
  const nameOf = (providerId: string): string => providers.find(({ id }) => id === providerId)?.name ?? providerId;
  return {
    'GET /account/ways': async ({ caller: { userId } }, { db }) => {
      const { hasPassword, connected, passkeys } = await listWays(db, userId);
      return {
        hasPassword,
        connected: connected.map((way) => ({ ...way, name: nameOf(way.providerId) })),
        passkeys: passkeys.map(({ lastUsedAt = null, ...passkey }) => ({ ...passkey, lastUsedAt })),
        offered: providers.filter(({ id }) => !connected.some(({ providerId }) => providerId === id)).map(({ id, name }) => ({ id, name })),
      };
    },

    /** Gives the address to go to, from which the provider leads back to the account page. */
    'POST /account/ways': async ({ caller, body: { provider, password }, request, reply }) => {
      if (!providers.some(({ id }) => id === provider)) throw invalidInput([{ field: 'provider', message: 'is not offered here' }]);
      await caller.confirm(password);
      const body = { provider, callbackURL: '/account', errorCallbackURL: '/account', disableRedirect: true };
      return passOn(await askAuth(request, { method: 'POST', path: '/api/auth/link-social', body }, tools), reply);
    },

    'DELETE /account/ways/:id': async ({ caller, params, body }, { db }) => {
      await caller.confirm(body.password);
      await disconnectWay(db, { ...caller, wayId: params.id, nameOf });
      return {};
    },

    'DELETE /account/passkeys/:id': async ({ caller, params, body }, { db }) => {
      await caller.confirm(body.password);
      await removePasskey(db, { ...caller, wayId: params.id });
      return {};
    },
  };
}
