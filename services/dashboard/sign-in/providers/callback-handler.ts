import { type FastifyReply, type FastifyRequest } from 'fastify';
import { ServiceError } from '../../../kit/errors';
import { Refusal } from '../../http/refusal';
import { ADDRESS_HEADER } from '../address-header';
import { askAuth, type AuthTools, welcome } from '../auth-handler';
import { noteAccount } from '../note-account';
import { asksForSecondFactor } from '../second-factor';
import { type SignInProvider } from './provider-settings';

/** Why a sign-in by a provider failed. Pages put it into words. */
type Failure = 'denied' | 'exists' | 'unverified' | 'operator' | 'elsewhere' | 'expired' | 'failed';

/** Codes of better-auth and of the provider. All others are `failed`. */
const FAILURES: Readonly<Record<string, Failure>> = {
  access_denied: 'denied',
  account_not_linked: 'exists',
  email_not_verified: 'unverified',
  email_not_found: 'unverified',
  operators_password: 'operator',
  account_already_linked_to_different_user: 'elsewhere',
  state_mismatch: 'expired',
  state_not_found: 'expired',
  state_invalid: 'expired',
};

/** The pages that may show it: those on which the sign-in began. */
const PAGES: ReadonlySet<string> = new Set(['/sign-in', '/account']);

/** Parameters of the protocol, the only ones that are read. A provider's own texts are never shown. */
const MEMBERS = ['code', 'state', 'error', 'iss'] as const;

function protocolQuery(request: FastifyRequest): string {
  const given = new URL(request.raw.url ?? '/', 'http://unused').searchParams;
  const query = new URLSearchParams();
  for (const name of MEMBERS) {
    const [value, second] = given.getAll(name);
    if (value !== undefined && second === undefined) query.set(name, value);
  }
  return query.toString();
}

function pageWith(path: string, given: Readonly<Record<string, string | null>>): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(given)) if (value !== null) query.set(name, value);
  return query.size === 0 ? path : `${path}?${query.toString()}`;
}

/**
 * The page that shows a failure.
 * @param leads where better-auth would lead: to its own page when it cannot tell where the sign-in began
 */
function failurePage(leads: URL, error: string): string {
  const path = PAGES.has(leads.pathname) ? leads.pathname : '/sign-in';
  return pageWith(path, {
    then: leads.searchParams.get('then'),
    provider: (Object.hasOwn(FAILURES, error) ? FAILURES[error] : undefined) ?? 'failed',
  });
}

/** The address of the person whose session begins with this response. */
async function findNewcomer(response: Response, request: FastifyRequest, { auth }: AuthTools): Promise<string | undefined> {
  const cookies = response.headers.getSetCookie().map((each) => each.split(';')[0] ?? '');
  const begun = cookies.find((each) => /session_token=./.test(each));
  if (begun === undefined) return undefined;
  return (await (await auth()).findSession(new Headers({ cookie: begun, [ADDRESS_HEADER]: request.ip }))).user?.email;
}

/** @returns where to go from here: always one of our pages */
async function findWay(response: Response, request: FastifyRequest, tools: AuthTools & { provider: SignInProvider }): Promise<string> {
  const leads = new URL(response.headers.get('location') ?? '/signed-in', tools.url);
  const error = leads.searchParams.get('error');
  if (error !== null) return failurePage(leads, error);
  const then = leads.searchParams.get('then');
  if (await asksForSecondFactor(response)) return pageWith('/second-step', { then });
  const email = await findNewcomer(response, request, tools);
  // This signs no person in: a signed-in person has connected the provider.
  if (email === undefined) return pageWith('/account', { provider: 'connected' });
  await welcome({ email, from: request.ip }, tools);
  await noteAccount(tools.db, { action: 'account.sign_in', email, from: request.ip, details: { with: tools.provider.name } });
  return pageWith('/signed-in', { then });
}

/**
 * Providers lead people back to it. They come from another site, so browsers send the session's strict cookie only after one of our pages
 * has loaded: `/signed-in` leads on from there. A person with a second factor is asked for it as after a password.
 */
export function callbackHandler(
  provider: SignInProvider,
  tools: AuthTools,
): (request: FastifyRequest, reply: FastifyReply) => Promise<FastifyReply> {
  return async (request, reply) => {
    try {
      const path = `/api/auth/callback/${provider.id}?${protocolQuery(request)}`;
      const response = await askAuth(request, { method: 'GET', path }, tools);
      const way = await findWay(response, request, { ...tools, provider });
      return await reply.header('set-cookie', response.headers.getSetCookie()).redirect(way, 303);
    } catch (error) {
      // A person is looking, so a problem of an API becomes a page here. Faults stay faults.
      if (!(error instanceof Refusal || error instanceof ServiceError)) throw error;
      tools.log.warn({ provider: provider.id, code: error.message }, 'a sign-in by a provider failed');
      return reply.redirect(pageWith('/sign-in', { provider: 'failed' }), 303);
    }
  };
}
