import { randomBytes, createHmac } from 'node:crypto';
import type { BetterAuthOptions, BetterAuthPlugin } from 'better-auth';
import type { twoFactor as TwoFactor } from 'better-auth/plugins/two-factor';
import { z } from 'zod';
import type { SessionUser } from '../http/callers';
import { type AuthOptions, authOptions, nameOf, SECOND_FACTOR } from './auth-options';
import { passkeyPlugins } from './passkeys/passkey-plugin';
import { providerPlugin } from './providers/provider-plugin';
import { readSecondFactor, takeCodeStep } from '../../selling/customers/second-factor';

/** A refusal of better-auth. */
export interface AuthError {
  readonly statusCode: number;
  /** Usually `{code, message}`. */
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
  /** The address of the account whose password a token can set; undefined when the token is not one of ours, or was used. */
  findResetAddress(token: string): Promise<string | undefined>;
  /** A token with which the password of an account can be set, once. */
  makeResetToken(wish: { readonly userId: string; readonly expiresAt: Date }): Promise<string>;
  isAuthError(error: unknown): error is AuthError;
}

/** The content of better-auth's links for verifying. */
const linkPayload = z.object({ email: z.email() });

/** The name under which better-auth keeps the token of a mail for a forgotten password. */
const resetName = (token: string): string => `reset-password:${token}`;

/** better-auth asks for a second factor only after a password. People who come from a provider are asked too. */
function secondFactorOf(twoFactor: typeof TwoFactor, options: AuthOptions): ReturnType<typeof TwoFactor> {
  const plugin = twoFactor({
    ...SECOND_FACTOR,
    // Read for each authenticator, because the brand can change.
    get issuer() {
      return nameOf(options.mail);
    },
  });
  for (const hook of plugin.hooks.after) {
    const usual = hook.matcher.bind(hook);
    hook.matcher = (context) => usual(context) || context.path === '/callback/:id';
  }
  return plugin;
}

/**
 * Accounts, passwords, sessions and their limits, all from better-auth with our tables, hashing and mail. better-auth is loaded here and
 * not with this module, because that takes as long as loading the rest of the dashboard.
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
    async findResetAddress(token) {
      const { internalAdapter } = await auth.$context;
      const found = await internalAdapter.findVerificationValue(resetName(token));
      return found ? (await internalAdapter.findUserById(found.value))?.email : undefined;
    },
    async makeResetToken({ userId, expiresAt }) {
      const token = randomBytes(32).toString('base64url');
      const { internalAdapter } = await auth.$context;
      await internalAdapter.createVerificationValue({ identifier: resetName(token), value: userId, expiresAt });
      return token;
    },
    isAuthError: (error) => isAPIError(error),
  };
}

/** Creates it on first use, once. */
export type AuthSource = () => Promise<Auth>;

export function createAuthLater(options: AuthOptions): AuthSource {
  let made: Promise<Auth> | undefined;
  return () => (made ??= createAuth(options));
}

/** RFC 6238, as authenticators and better-auth implement it: SHA-1, six digits, 30 s. */
const PERIOD_MS = 30_000;
const DIGITS = 6;
/** better-auth accepts the present step and one on either side. It checks later than we do, so it may be a step further by then. */
const NEAR_STEPS = [-1, 0, 1, 2];

/**
 * The code of one step (RFC 4226).
 * @param secret in better-auth's form, each character one byte
 */
function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The step with this code, among those that better-auth may accept; the latest of several. */
function stepOf(secret: string, code: unknown, nowMs: number): number | undefined {
  const now = Math.floor(nowMs / PERIOD_MS);
  return NEAR_STEPS.map((near) => now + near).findLast((step) => codeOf(secret, step) === code);
}

/**
 * Accepts each code of an authenticator once. better-auth accepts it as often as it is sent within 90 s. A wrong code is left to
 * better-auth, which counts it.
 */
async function onceOnlyCodes({ db }: Pick<AuthOptions, 'db'>): Promise<BetterAuthPlugin> {
  const [{ APIError, createAuthMiddleware, getSessionFromCtx }, { symmetricDecrypt }] = await Promise.all([
    import('better-auth/api'),
    import('better-auth/crypto'),
  ]);
  const handler = createAuthMiddleware(async (ctx) => {
    const { internalAdapter, secret, secretConfig, createAuthCookie } = ctx.context;
    // A sign-in whose second step is still to come.
    const half = await ctx.getSignedCookie(createAuthCookie('two_factor').name, secret);
    const userId =
      (await getSessionFromCtx(ctx))?.user.id ?? (half ? (await internalAdapter.findVerificationValue(half))?.value : undefined);
    const factor = userId === undefined ? undefined : await readSecondFactor(db, userId);
    if (!factor) return;
    const code: unknown = Reflect.get(Object(ctx.body), 'code');
    const step = stepOf(await symmetricDecrypt({ key: secretConfig, data: factor.secret }), code, Date.now());
    if (step === undefined || (await takeCodeStep(db, { id: factor.id, step }))) return;
    throw new APIError('UNAUTHORIZED', { code: 'CODE_USED', message: 'This code was used already; wait for the next one' });
  });
  return { id: 'tollgate-once-only-codes', hooks: { before: [{ matcher: ({ path }) => path === '/two-factor/verify-totp', handler }] } };
}
