import { z } from 'zod';
import { type Endpoints } from './endpoint';

const email = z.string().trim().max(254).pipe(z.email('must be an email address'));
const password = z.string().max(1_000);
/** Six digits, or a recovery code; people write both with spaces. */
const code = z
  .string()
  .max(40)
  .transform((text) => text.replace(/\s/g, ''));
const nothing = z
  .object({})
  .optional()
  .transform(() => ({}));
const withCode = z.object({ code });
const withPassword = z.object({ password });
const withEmail = z.object({ email });

/** Whether a second factor is asked for next. */
const firstStep = z.looseObject({ twoFactorRedirect: z.boolean().optional() });
/** A response of better-auth that no page reads. */
const anything = z.unknown();
const recoveryCodes = z.looseObject({ backupCodes: z.array(z.string()) });
const session = z.looseObject({
  id: z.string(),
  /** Names the session in the request that ends it. */
  token: z.string(),
  createdAt: z.string(),
  updatedAt: z.string(),
  expiresAt: z.string(),
  ipAddress: z.string().nullish(),
  userAgent: z.string().nullish(),
});
/** One place where the account is signed in. */
export type AccountSession = z.input<typeof session>;
/** The authenticator's set-up address, and the recovery codes. Shown once. */
const secondFactor = recoveryCodes.extend({ /** `otpauth:` address. */ totpURI: z.string() });
export type SecondFactorSetUp = z.input<typeof secondFactor>;

/**
 * The endpoints of better-auth that are reachable; all others respond as unknown routes. Bodies are passed on without members that the
 * schema does not name.
 */
export const authEndpoints = {
  'POST /auth/sign-up/email': {
    for: 'everybody',
    summary: 'Sign up',
    // No form asks for a name, but better-auth requires one.
    body: z.object({ email, password }).transform((given) => ({ ...given, name: '' })),
    answer: anything,
  },
  'POST /auth/sign-in/email': {
    for: 'everybody',
    summary: 'Sign in with a password',
    body: z.object({ email, password, rememberMe: z.boolean().optional() }),
    answer: firstStep,
  },
  'POST /auth/sign-out': { for: 'everybody', summary: 'Sign out', body: nothing, answer: anything },
  'GET /auth/get-session': {
    for: 'everybody',
    summary: 'Show the session of this browser',
    answer: z.looseObject({ session: z.looseObject({ id: z.string() }) }).nullable(),
  },
  'POST /auth/send-verification-email': { for: 'everybody', summary: 'Send the link again', body: withEmail, answer: anything },
  'POST /auth/request-password-reset': { for: 'everybody', summary: 'Ask for a new password', body: withEmail, answer: anything },
  'POST /auth/reset-password': {
    for: 'everybody',
    summary: 'Set a new password by the link in an email',
    body: z.object({ newPassword: password, token: z.string().max(200) }),
    answer: anything,
  },
  'POST /auth/change-password': {
    for: 'everybody',
    summary: 'Change the password',
    // Ends all other sessions: anyone who knew the old password may have one.
    body: z.object({ currentPassword: password, newPassword: password }).transform((given) => ({ ...given, revokeOtherSessions: true })),
    answer: anything,
  },
  'GET /auth/list-sessions': { for: 'everybody', summary: 'List sessions', answer: z.array(session) },
  'POST /auth/revoke-session': {
    for: 'everybody',
    summary: 'End a session',
    body: z.object({ token: z.string().max(200) }),
    answer: anything,
  },
  'POST /auth/revoke-sessions': { for: 'everybody', summary: 'End all sessions', body: nothing, answer: anything },
  'POST /auth/revoke-other-sessions': { for: 'everybody', summary: 'End all other sessions', body: nothing, answer: anything },
  // Returns the secret and the recovery codes. The factor counts only once a code of it was given.
  'POST /auth/two-factor/enable': {
    for: 'everybody',
    summary: 'Begin to turn on a second factor',
    body: withPassword,
    answer: secondFactor,
  },
  // With a session it turns the factor on; without one it is the second step of signing in. No browser is trusted to skip it.
  'POST /auth/two-factor/verify-totp': { for: 'everybody', summary: 'Enter a code of the second factor', body: withCode, answer: anything },
  'POST /auth/two-factor/verify-backup-code': { for: 'everybody', summary: 'Enter a recovery code', body: withCode, answer: anything },
  'POST /auth/two-factor/disable': { for: 'everybody', summary: 'Turn off the second factor', body: withPassword, answer: anything },
  'POST /auth/two-factor/generate-backup-codes': {
    for: 'everybody',
    summary: 'Replace the recovery codes',
    body: withPassword,
    answer: recoveryCodes,
  },
} as const satisfies Endpoints;

/** Our own endpoints in place of better-auth's. */
export const ownAuthEndpoints = {
  // better-auth would accept the mail's link alone. The browser that signed up need not give the password: see signed-up-proof.ts.
  'POST /auth/verify-email': {
    for: 'everybody',
    summary: 'Verify an address, and sign in',
    body: z.object({ token: z.string().max(2_000), password: password.optional() }),
    answer: z.object({ status: z.literal(true), twoFactorRedirect: z.literal(true).optional() }),
    refuses: ['link_unusable', 'wrong_password'],
  },
} as const satisfies Endpoints;

/** Endpoints of an installation with sign-in providers. People come back through providers/callback-handler.ts. */
export const providerEndpoints = {
  'POST /auth/sign-in/social': {
    for: 'everybody',
    summary: 'Begin to sign in with a provider',
    body: z.object({ provider: z.string().max(40), then: z.string().max(2_000).optional() }).transform(({ provider, then }) => {
      const query = then === undefined ? '' : `?${new URLSearchParams({ then }).toString()}`;
      return { provider, callbackURL: `/signed-in${query}`, errorCallbackURL: `/sign-in${query}`, disableRedirect: true };
    }),
    answer: z.looseObject({ url: z.string() }),
  },
} as const satisfies Endpoints;
