import { type BetterAuthPlugin } from 'better-auth';
import { type AuthOptions } from '../auth-options';
import { createProvider } from './create-provider';

/**
 * Has better-auth know our providers. Its own plug-in for them asks each once, when the process starts: one that is away then would be
 * missing until the next start.
 */
export function providerPlugin({ providers = [], log }: Pick<AuthOptions, 'providers' | 'log'>): BetterAuthPlugin {
  const socialProviders = providers.map((each) => createProvider(each, { log, now: () => Date.now() }));
  return { id: 'tollgate-providers', init: () => ({ context: { socialProviders } }) };
}
