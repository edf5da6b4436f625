import { type BetterAuthOptions } from 'better-auth';
import { type Pool } from 'pg';
import { findOperator } from '../../../selling/operators/find-operator';

type Check = NonNullable<NonNullable<BetterAuthOptions['user']>['validateUserInfo']>;
type Given = Parameters<Check>[0];

/**
 * Decides whether a provider's statement is enough. A new person, or a new way into an account, needs an address that the provider has
 * verified. After that, the provider's own id of the person counts. Operators have our passwords and second factors.
 * @returns the code with which better-auth then refuses; undefined when it is enough
 */
export async function checkIdentity(db: Pool, { user, source }: Given): Promise<{ error: string } | undefined> {
  if (source.method !== 'oauth') return undefined;
  if (source.action !== 'sign-in' && user.emailVerified !== true) return { error: 'email_not_verified' };
  if (source.action !== 'create-user' && (await findOperator(db, { id: user.id ?? '' }))) return { error: 'operators_password' };
  return undefined;
}
