import { z } from 'zod';

/** The parts of better-auth that are reachable; everything else of it reads as no route. */
export interface AuthRoute {
  readonly method: 'GET' | 'POST';
  /** Below `/api/auth`. */
  readonly path: `/${string}`;
  /** What is passed on of a body; further members are dropped. */
  readonly body?: z.ZodType<Readonly<Record<string, unknown>>>;
  /** The member that is a new password, which must not be a common one. */
  readonly newPassword?: 'password' | 'newPassword';
  /** What else happens with it. */
  readonly counts?: 'sign-in' | 'mail';
  /** What the audit log says once it was carried out for whose session the request had. */
  readonly audit?: 'account.password_change' | 'account.session_end';
  /** What it does to the second factor; see second-factor.ts. */
  readonly secondFactor?: 'check' | 'recover' | 'turn-off' | 'replace-codes';
}

const email = z.string().trim().max(254).pipe(z.email('must be an e-mail address'));
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

export const authRoutes: readonly AuthRoute[] = [
  {
    method: 'POST',
    path: '/sign-up/email',
    // Nobody is asked for a name; better-auth wants one.
    body: z.object({ email, password }).transform((given) => ({ ...given, name: '' })),
    newPassword: 'password',
    counts: 'mail',
  },
  { method: 'POST', path: '/sign-in/email', body: z.object({ email, password, rememberMe: z.boolean().optional() }), counts: 'sign-in' },
  { method: 'POST', path: '/sign-out', body: nothing },
  { method: 'GET', path: '/get-session' },
  { method: 'POST', path: '/send-verification-email', body: z.object({ email }), counts: 'mail' },
  { method: 'POST', path: '/request-password-reset', body: z.object({ email }), counts: 'mail' },
  {
    method: 'POST',
    path: '/reset-password',
    body: z.object({ newPassword: password, token: z.string().max(200) }),
    newPassword: 'newPassword',
  },
  {
    method: 'POST',
    path: '/change-password',
    // Whoever knew the old password may have sessions.
    body: z.object({ currentPassword: password, newPassword: password }).transform((given) => ({ ...given, revokeOtherSessions: true })),
    newPassword: 'newPassword',
    audit: 'account.password_change',
  },
  { method: 'GET', path: '/list-sessions' },
  { method: 'POST', path: '/revoke-session', body: z.object({ token: z.string().max(200) }), audit: 'account.session_end' },
  { method: 'POST', path: '/revoke-sessions', body: nothing, audit: 'account.session_end' },
  { method: 'POST', path: '/revoke-other-sessions', body: nothing, audit: 'account.session_end' },
  // Answers the secret and the recovery codes; it counts for nothing until a code of it was given.
  { method: 'POST', path: '/two-factor/enable', body: z.object({ password }) },
  // With a session it turns the factor on; without, it is the second step of signing in. No browser is trusted to skip that.
  { method: 'POST', path: '/two-factor/verify-totp', body: z.object({ code }), secondFactor: 'check' },
  { method: 'POST', path: '/two-factor/verify-backup-code', body: z.object({ code }), secondFactor: 'recover' },
  { method: 'POST', path: '/two-factor/disable', body: z.object({ password }), secondFactor: 'turn-off' },
  { method: 'POST', path: '/two-factor/generate-backup-codes', body: z.object({ password }), secondFactor: 'replace-codes' },
];

/** Ours in place of better-auth's, for which the link of the mail is enough: see verify-handler.ts. */
export const verifyRoute = {
  method: 'POST',
  path: '/verify-email',
  // Without a password for the browser that signed up: see signed-up-proof.ts.
  body: z.object({ token: z.string().max(2_000), password: password.optional() }),
} satisfies AuthRoute;

/** Where there are providers: answers where to go. How people come back: providers/callback-handler.ts. */
export const providerRoute: AuthRoute = {
  method: 'POST',
  path: '/sign-in/social',
  body: z.object({ provider: z.string().max(40), then: z.string().max(2_000).optional() }).transform(({ provider, then }) => {
    const query = then === undefined ? '' : `?${new URLSearchParams({ then }).toString()}`;
    return { provider, callbackURL: `/signed-in${query}`, errorCallbackURL: `/sign-in${query}`, disableRedirect: true };
  }),
};
