import { randomBytes } from 'node:crypto';
import { type BetterAuthOptions } from 'better-auth';
import { type twoFactor as TwoFactor } from 'better-auth/plugins/two-factor';
import { z } from 'zod';
import { type SessionUser } from '../http/callers';
import { type AuthOptions, authOptions, nameOf, SECOND_FACTOR } from './auth-options';
import { onceOnlyCodes } from './once-only-codes';
import { passkeyPlugins } from './passkeys/passkey-plugin';
import { providerPlugin } from './providers/provider-plugin';

/** A refusal of better-auth. */
export interface AuthError {
  readonly statusCode: number;
  /** `{code, message}`, as a rule. */
  readonly body?: unknown;
}

/** The parts of better-auth that the dashboard uses. */
export interface Auth {
  readonly options: BetterAuthOptions;
  /** @throws AuthError, or whatever the database throws */
  handler(request: Request): Promise<Response>;
  /**
   * The session of a cookie, with the cookies to set because it was renewed.
   * @throws AuthError, which may stand for an error of the database
   */
  findSession(headers: Headers): Promise<{ user: SessionUser | undefined; cookies: string[] }>;
  /** The address to which a link for verifying was sent; undefined when the token in it is not one of ours, or too old. */
  findLinkAddress(token: string): Promise<string | undefined>;
  /** A token with which the password of an account can be set, once. */
  makeResetToken(wish: { readonly userId: string; readonly expiresAt: Date }): Promise<string>;
  isAuthError(error: unknown): error is AuthError;
}

/** What better-auth's links for verifying hold. */
const linkPayload = z.object({ email: z.email() });

/** better-auth asks for a second factor after a password alone; people who come from a provider are asked as well. */
function secondFactorOf(twoFactor: typeof TwoFactor, options: AuthOptions): ReturnType<typeof TwoFactor> {
  const plugin = twoFactor({ ...SECOND_FACTOR, issuer: nameOf(options) });
  for (const hook of plugin.hooks.after) {
    const usual = hook.matcher.bind(hook);
    hook.matcher = (context) => usual(context) || context.path === '/callback/:id';
  }
  return plugin;
}

/**
 * Accounts, passwords, sessions and their limits: all of it better-auth, with our tables, hashing and mail. It is loaded here and not
 * with this module: that takes as long as loading everything else of the dashboard together.
 */
export async function createAuth(options: AuthOptions): Promise<Auth> {
  const [{ betterAuth }, { isAPIError }, { verifyJWT }, { twoFactor }, onceOnly, passkeys] = await Promise.all([
    import('better-auth'),
    import('better-auth/api'),
    import('better-auth/crypto'),
    import('better-auth/plugins/two-factor'),
    onceOnlyCodes(options),
    passkeyPlugins(options),
  ]);
  const auth = betterAuth({
    ...authOptions(options),
    plugins: [secondFactorOf(twoFactor, options), onceOnly, providerPlugin(options), ...passkeys],
  });
  return {
    options: auth.options,
    handler: (request) => auth.handler(request),
    async findSession(headers) {
      const { response, headers: answered } = await auth.api.getSession({ headers, returnHeaders: true });
      const user = response && {
        id: response.user.id,
        email: response.user.email,
        emailVerified: response.user.emailVerified,
        hasSecondFactor: response.user.twoFactorEnabled === true,
        session: { id: response.session.id, createdAt: response.session.createdAt },
      };
      return { user: user ?? undefined, cookies: answered.getSetCookie() };
    },
    async findLinkAddress(token) {
      return linkPayload.safeParse(await verifyJWT<unknown>(token, options.secret)).data?.email;
    },
    async makeResetToken({ userId, expiresAt }) {
      const token = randomBytes(32).toString('base64url');
      const { internalAdapter } = await auth.$context;
      // As better-auth itself keeps the token of a mail for a forgotten password.
      await internalAdapter.createVerificationValue({ identifier: `reset-password:${token}`, value: userId, expiresAt });
      return token;
    },
    isAuthError: (error) => isAPIError(error),
  };
}

/** Makes it when it is first asked for, once. */
export type AuthSource = () => Promise<Auth>;

export function createAuthLater(options: AuthOptions): AuthSource {
  let made: Promise<Auth> | undefined;
  return () => (made ??= createAuth(options));
}
