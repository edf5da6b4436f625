import { type BetterAuthOptions } from 'better-auth';
import { type Pool } from 'pg';
import { findOperator } from '../../../selling/operators/find-operator';

type Check = NonNullable<NonNullable<BetterAuthOptions['user']>['validateUserInfo']>;
type Given = Parameters<Check>[0];

/**
 * Whether a provider's word is enough. Somebody new, or a new way into an account, takes an address that the provider has verified; after
 * that it is the provider's own name for the person that counts. Operators have our passwords and second factors.
 * @returns what better-auth then refuses with; undefined: it is
 */
export async function checkIdentity(db: Pool, { user, source }: Given): Promise<{ error: string } | undefined> {
  if (source.method !== 'oauth') return undefined;
  if (source.action !== 'sign-in' && user.emailVerified !== true) return { error: 'email_not_verified' };
  if (source.action !== 'create-user' && (await findOperator(db, { id: user.id ?? '' }))) return { error: 'operators_password' };
  return undefined;
}
