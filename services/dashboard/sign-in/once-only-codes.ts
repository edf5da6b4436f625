import { createHmac } from 'node:crypto';
import { type BetterAuthPlugin } from 'better-auth';
import { readSecondFactor, takeCodeStep } from '../../selling/customers/second-factor';
import { type AuthOptions } from './auth-options';

/** RFC 6238, as authenticators and better-auth have it: SHA-1, six digits, 30 s. */
const PERIOD_MS = 30_000;
const DIGITS = 6;
/** better-auth takes the step of its moment and one on either side. Its moment is later than ours: it may be a step on by then. */
const NEAR_STEPS = [-1, 0, 1, 2];

/** The code of one step (RFC 4226). @param secret as better-auth keeps it, each character one byte */
function codeOf(secret: string, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) & 0x0f;
  return String((mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** DIGITS).padStart(DIGITS, '0');
}

/** The step whose code this is, among those that better-auth may take; the latest of several. */
function stepOf(secret: string, code: unknown, nowMs: number): number | undefined {
  const now = Math.floor(nowMs / PERIOD_MS);
  return NEAR_STEPS.map((near) => now + near).findLast((step) => codeOf(secret, step) === code);
}

/**
 * Takes each code of an authenticator once: better-auth takes it as often as it is sent within 90 s. A code that is wrong is left to
 * better-auth, which counts it.
 */
export async function onceOnlyCodes({ db }: Pick<AuthOptions, 'db'>): Promise<BetterAuthPlugin> {
  const [{ APIError, createAuthMiddleware, getSessionFromCtx }, { symmetricDecrypt }] = await Promise.all([
    import('better-auth/api'),
    import('better-auth/crypto'),
  ]);
  const handler = createAuthMiddleware(async (ctx) => {
    const { internalAdapter, secret, secretConfig, createAuthCookie } = ctx.context;
    // Of a sign-in whose second step is still to come.
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
