import { type FastifyRequest } from 'fastify';
import { invalidInput } from '../../kit/errors';
import { askAuth, type AuthTools, welcome } from './auth-handler';
import { noteAccount } from './note-account';
import { asksForSecondFactor } from './second-factor';
import { type ownAuthEndpoints } from '../contract/auth';
import { type Handlers } from '../http/bind-endpoint';
import { Refusal } from '../http/refusal';

/** better-auth's refusals of a link, in case it expires between our check and better-auth's. */
const LINK_CODES = new Set(['token_expired', 'invalid_token', 'user_not_found']);

function codeOf(error: unknown): string {
  return error instanceof Refusal ? (error.options.code ?? '') : '';
}

interface Proofs {
  readonly token: string;
  readonly email: string;
  readonly password: string;
}

/** @returns undefined when only the address is not verified yet: better-auth checks the password first */
async function signIn(request: FastifyRequest, { email, password }: Proofs, tools: AuthTools): Promise<Response | undefined> {
  try {
    return await askAuth(request, { method: 'POST', path: '/api/auth/sign-in/email', body: { email, password } }, tools);
  } catch (error) {
    if (codeOf(error) === 'email_not_verified') return undefined;
    if (codeOf(error) === 'invalid_email_or_password') {
      throw new Refusal('wrong_password');
    }
    throw error;
  }
}

async function verify(request: FastifyRequest, { token }: Pick<Proofs, 'token'>, tools: AuthTools): Promise<Response> {
  try {
    return await askAuth(request, { method: 'GET', path: `/api/auth/verify-email?${new URLSearchParams({ token }).toString()}` }, tools);
  } catch (error) {
    throw LINK_CODES.has(codeOf(error)) ? new Refusal('link_unusable') : error;
  }
}

/** @returns the response that begins a session, or asks for a second factor first */
async function proveBoth(request: FastifyRequest, proofs: Proofs, tools: AuthTools): Promise<Response> {
  const signedIn = await signIn(request, proofs, tools);
  if (signedIn) return signedIn;
  const verified = await verify(request, proofs, tools);
  if (verified.headers.getSetCookie().length > 0) return verified;
  // The same form from another tab was faster: it has verified the address, and has the session.
  return (await signIn(request, proofs, tools)) ?? verified;
}

/** Proves the person by the password, or by having shown it when signing up. Then the link verifies, and begins the session itself. */
async function prove(
  request: FastifyRequest,
  { token, email, password }: Omit<Proofs, 'password'> & { readonly password: string | undefined },
  tools: AuthTools,
): Promise<Response> {
  if (password !== undefined) return proveBoth(request, { token, email, password }, tools);
  const verified = (await tools.signedUp.isShown(request, email)) ? await verify(request, { token }, tools) : undefined;
  // For an address that is verified already, the link alone begins no session.
  if (!verified || verified.headers.getSetCookie().length === 0) throw invalidInput([{ field: 'password', message: 'is missing' }]);
  return verified;
}

/**
 * Verifies an address by its link together with the password of the account, and signs in. The link alone shows who reads the mail, not who
 * signed up: a stranger may have signed up, with a password of the stranger's, to get what belongs to the address. A browser that signed up
 * has shown the password at most an hour ago, and is not asked again. Used again, the link only signs in, with the password. It counts as
 * an attempt to sign in.
 */
export const verifyHandlers = (tools: AuthTools): Handlers<typeof ownAuthEndpoints> => ({
  'POST /auth/verify-email': async ({ body: { token, password }, request, reply }) => {
    const auth = await tools.auth();
    const email = await auth.findLinkAddress(token);
    if (email === undefined) throw new Refusal('link_unusable');
    await tools.limits.takeSignIn(email, request.ip);
    const proved = await prove(request, { token, email, password }, tools);
    const twoFactorRedirect = await asksForSecondFactor(proved);
    if (!twoFactorRedirect) {
      await welcome({ email, from: request.ip }, tools);
      await noteAccount(tools.db, { action: 'account.sign_in', email, from: request.ip });
    }
    reply.header('set-cookie', [...proved.headers.getSetCookie(), ...tools.signedUp.forget(request)]);
    return { status: true, ...(twoFactorRedirect && { twoFactorRedirect }) };
  },
});
