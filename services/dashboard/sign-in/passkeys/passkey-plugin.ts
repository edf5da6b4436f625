import { type PasskeyOptions } from '@better-auth/passkey';
import { type BetterAuthPlugin } from 'better-auth';
import { findPasskeyOwner } from '../../../selling/customers/passkeys';
import { findOperator } from '../../../selling/operators/find-operator';
import { type AuthOptions } from '../auth-options';
import { passkeyDomain } from './passkey-domain';

/** Tables and columns as migration 0002 names them. */
const SCHEMA = {
  passkey: {
    modelName: 'auth_passkey',
    fields: {
      publicKey: 'public_key',
      userId: 'user_id',
      credentialID: 'credential_id',
      deviceType: 'device_type',
      backedUp: 'backed_up',
      createdAt: 'created_at',
    },
  },
} satisfies PasskeyOptions['schema'];

/** Passkeys, by better-auth's own plug-in; none where browsers keep none. It is loaded here, like better-auth: see create-auth.ts. */
export async function passkeyPlugins(options: AuthOptions): Promise<BetterAuthPlugin[]> {
  const { db, url } = options;
  const rpID = passkeyDomain(url);
  if (rpID === undefined) return [];
  const [{ passkey }, { APIError }] = await Promise.all([import('@better-auth/passkey'), import('better-auth/api')]);

  // The plug-in asks the device to check the person, but accepts a response without a check.
  const requireVerified = (isVerified: boolean | undefined): void => {
    if (isVerified !== true) throw new APIError('BAD_REQUEST', { code: 'PERSON_UNVERIFIED', message: 'The person was not verified' });
  };
  const plugin = passkey({
    rpID,
    origin: url,
    authenticatorSelection: { residentKey: 'required', requireResidentKey: true, userVerification: 'required' },
    registration: {
      // A person who has just given the password asks for it. That is stronger than the day-old session which the plug-in requires; see
      // passkey-handlers.ts. Without a session it makes nothing.
      requireSession: false,
      resolveUser: () => Promise.reject(new APIError('UNAUTHORIZED', { code: 'SESSION_REQUIRED', message: 'Sign in first' })),
      afterVerification: ({ verification }) => requireVerified(verification.registrationInfo?.userVerified),
    },
    authentication: {
      async afterVerification({ verification, clientData }) {
        requireVerified(verification.authenticationInfo.userVerified);
        const owner = await findPasskeyOwner(db, clientData.id);
        if (owner !== undefined && !(await findOperator(db, { id: owner }))) return;
        throw new APIError('UNAUTHORIZED', { code: 'OPERATORS_PASSWORD', message: 'An operator signs in by password and code' });
      },
    },
    advanced: { webAuthnChallengeCookie: 'passkey' },
    schema: SCHEMA,
  });
  return [plugin];
}
