import type { BetterAuthPlugin, OAuthProvider } from 'better-auth';
import type { AuthOptions } from '../auth-options';
import { ServiceError } from '../../../kit/errors';
import type { Log } from '../../../kit/log';
import { discover, identify, identity, nonceOf } from './ask-provider';
import type { SignInProvider } from './provider-settings';

/**
 * Makes our providers known to better-auth. Its own plug-in contacts each provider once, when the process starts: a provider that is down
 * then would be missing until the next start.
 */
export function providerPlugin({ providers = [], log }: Pick<AuthOptions, 'providers' | 'log'>): BetterAuthPlugin {
  const socialProviders = providers.map((each) => createProvider(each, { log, now: () => Date.now() }));
  return { id: 'tollgate-providers', init: () => ({ context: { socialProviders } }) };
}

/** A provider's description changes rarely. Its keys are looked up separately when they change. */
const KNOWN_FOR_MS = 3_600_000;

/** In place of an address that is not verified: better-auth would look for its account, and its refusal would say whether there is one. */
const NOBODYS = 'unverified@tollgate.invalid';

const DOWN = 'does not answer, or not as it should. Try again in a while, or sign in with your password.';

/** Creates it on first use, and again after a failure or an hour. */
function keepFor<Value>(make: () => Promise<Value>, now: () => number): () => Promise<Value> {
  let kept: { readonly value: Promise<Value>; readonly until: number } | undefined;
  return () => {
    if (kept && kept.until > now()) return kept.value;
    const value = make();
    const mine = { value, until: now() + KNOWN_FOR_MS };
    kept = mine;
    value.catch(() => {
      if (kept === mine) kept = undefined;
    });
    return value;
  };
}

/** The reason of a failure, without the data sent: an error of the library may hold a token as its cause. */
function reasonOf(error: unknown): string {
  return error instanceof Error ? `${error.name}: ${error.message}` : 'unknown';
}

/**
 * A provider in better-auth's form. It keeps none of the provider's tokens, which serve only to identify the person once.
 * @param tools.now milliseconds since 1970
 */
function createProvider(provider: SignInProvider, { log, now }: { log: Log; now: () => number }): OAuthProvider {
  const { id, name } = provider;
  const loaded = keepFor(async () => {
    const client = await import('openid-client');
    return { client, config: await discover(client, provider) };
  }, now);
  const scope = provider.kind === 'github' ? 'read:user user:email' : 'openid email';

  return {
    id,
    name,
    issuer: provider.issuer,
    // Includes the issuer: another issuer with the same id is another account.
    accountSubject: ({ profile }) => `${provider.issuer} ${identity.parse(profile).subject}`,
    async createAuthorizationURL({ state, codeVerifier, redirectURI }) {
      const { client, config } = await loaded().catch((error: unknown) => {
        log.warn({ provider: id, reason: reasonOf(error) }, 'a provider of sign-ins does not answer');
        throw new ServiceError('service_not_ready', { code: 'provider_unavailable', detail: `${name} ${DOWN}` });
      });
      const challenge = await client.calculatePKCECodeChallenge(codeVerifier);
      return client.buildAuthorizationUrl(config, {
        redirect_uri: redirectURI,
        scope,
        state,
        code_challenge: challenge,
        code_challenge_method: 'S256',
        ...(provider.kind === 'oidc' && { nonce: nonceOf(provider, codeVerifier) }),
      });
    },
    async validateAuthorizationCode({ code, codeVerifier = '', redirectURI }) {
      try {
        const { client, config } = await loaded();
        return { raw: await identify(client, config, { code, codeVerifier, redirectURI, provider }) };
      } catch (error) {
        log.warn({ provider: id, reason: reasonOf(error) }, 'a provider did not confirm who signs in');
        return null;
      }
    },
    getUserInfo({ raw }) {
      const data = identity.parse(raw);
      const email = data.isEmailVerified ? data.email : undefined;
      // The person's name is not kept.
      const user = { name: '', email: email ?? NOBODYS, emailVerified: email !== undefined };
      return Promise.resolve({ user, data });
    },
  };
}
