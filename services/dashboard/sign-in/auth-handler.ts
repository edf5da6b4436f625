import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Pool } from 'pg';
import { z } from 'zod';
import { ServiceError } from '../../kit/errors';
import type { AttemptLimits } from '../http/attempt-limits';
import { type Endpoint, type EndpointName, partsOf } from '../contract/endpoint';
import type { AuthAct } from './auth-acts';
import { refuseCommonPassword } from './common-password';
import type { SignedUpProof } from './signed-up-proof';
import { readBody } from '../http/bind-endpoint';
import { ADDRESS_HEADER } from './address-header';
import type { SessionUser } from '../http/callers';
import type { AuthSource } from './create-auth';
import type { Log } from '../../kit/log';
import { noteAccount } from './note-account';
import type { MailSender } from '../http/dashboard-deps';
import { asksForSecondFactor, findSignedIn, noteSecondFactor, refuseMisplaced } from './second-factor';
import { Refusal } from '../http/refusal';
import { undoDeletion } from '../../selling/members/account-deletion';
import { undoPersonDeletion } from '../../selling/members/person-deletion';
import { keptMail } from '../mail/account-mails';

export interface AuthTools {
  readonly auth: AuthSource;
  readonly db: Pool;
  readonly limits: AttemptLimits;
  readonly signedUp: SignedUpProof;
  readonly mail: MailSender;
  readonly log: Log;
  /** Origin of the dashboard as browsers see it. */
  readonly url: string;
}

/** The caller's own headers that better-auth reads. */
const PASSED_HEADERS = ['cookie', 'origin', 'referer', 'user-agent', 'sec-fetch-site', 'sec-fetch-mode', 'sec-fetch-dest'] as const;

/** Headers for better-auth: those of the request that it may trust, and the address as this server knows it. */
export function authHeaders(request: FastifyRequest): Headers {
  const headers = new Headers({ [ADDRESS_HEADER]: request.ip });
  for (const name of PASSED_HEADERS) {
    const value = request.headers[name];
    if (typeof value === 'string') headers.set(name, value);
  }
  return headers;
}

/**
 * better-auth takes a database that is down for a session that does not exist, or for an error of its own.
 * @throws the database's error when it is down
 */
export async function requireDatabase(db: Pool): Promise<void> {
  await db.query('SELECT 1');
}

interface AuthFailure {
  readonly status: number;
  /** For example `INVALID_PASSWORD`. */
  readonly code: string | undefined;
  readonly message: string | undefined;
}

/** Seconds for which create-auth.ts locks an account whose codes were guessed at. For its own limits, better-auth gives the time. */
const LOCK_S = '900';

/** better-auth's refusals as problems, with its codes in small letters and its texts. */
function problemOf({ status, code, message }: AuthFailure): Error {
  const options = { ...(code && { code: code.toLowerCase() }), ...(message && { detail: `${message.replace(/\.$/, '')}.` }) };
  if (status === 401) return new Refusal('not_signed_in', options);
  if (status === 403) return new Refusal('forbidden', options);
  if (status === 404) return new ServiceError('route_unknown');
  return status < 500 ? new ServiceError('invalid_request', options) : new ServiceError('processing_failed', { cause: new Error(code) });
}

function textOf(body: unknown, member: 'code' | 'message'): string | undefined {
  const value: unknown = typeof body === 'object' && body !== null ? Reflect.get(body, member) : undefined;
  return typeof value === 'string' ? value : undefined;
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

/** @throws the database's error when that caused the failure */
async function failureOf(status: number, body: unknown, db: Pool): Promise<Error> {
  if (status === 401 || status >= 500) await requireDatabase(db);
  return problemOf({ status, code: textOf(body, 'code'), message: textOf(body, 'message') });
}

/** A request to better-auth on behalf of a caller. */
export interface AuthQuestion {
  readonly method: 'GET' | 'POST';
  /** Including its query. */
  readonly path: string;
  readonly body?: Readonly<Record<string, unknown>> | undefined;
}

/**
 * better-auth's response.
 * @throws Refusal or ServiceError when it refuses, with its code in small letters; the database's error when it is down
 */
export async function askAuth(caller: FastifyRequest, { method, path, body }: AuthQuestion, tools: AuthTools): Promise<Response> {
  const { auth: source, db, url } = tools;
  const auth = await source();
  const headers = authHeaders(caller);
  if (body) headers.set('content-type', 'application/json');
  const request = new Request(new URL(path, url), { method, headers, ...(body && { body: JSON.stringify(body) }) });
  let response: Response;
  try {
    response = await auth.handler(request);
  } catch (error) {
    throw auth.isAuthError(error) ? await failureOf(error.statusCode, error.body, db) : error;
  }
  if (response.status < 400) return response;
  const wait = response.headers.get('X-Retry-After');
  if (response.status === 429) throw new Refusal('too_many_attempts', { headers: { 'Retry-After': wait ?? LOCK_S } });
  throw await failureOf(response.status, await readJson(response), db);
}

/** Sends better-auth's response as ours. */
async function send(response: Response, reply: FastifyReply): Promise<FastifyReply> {
  const type = response.headers.get('content-type');
  const location = response.headers.get('location');
  reply.code(response.status).header('set-cookie', response.headers.getSetCookie());
  if (location !== null) reply.header('Location', location);
  if (type !== null) reply.header('Content-Type', type);
  return reply.send(await response.text());
}

/** The JSON of a response of better-auth, with its cookies. */
export async function passOn<Answer extends object>(response: Response, reply: FastifyReply): Promise<Answer> {
  reply.header('set-cookie', response.headers.getSetCookie());
  const answer: unknown = await response.json();
  if (typeof answer !== 'object' || answer === null) throw new ServiceError('processing_failed');
  return answer as Answer;
}

/** The form of every body of better-auth. */
const bodyOf = z.record(z.string(), z.unknown());

async function takeAttempt(
  { counts }: AuthAct,
  email: string,
  { limits, address }: { limits: AttemptLimits; address: string },
): Promise<void> {
  if (counts === 'sign-in') await limits.takeSignIn(email, address);
  else if (counts) await limits.takeMail(counts, email, address);
}

/** @param request of somebody who is named by the form, by the link of a mail, or by a session */
async function checkNewPassword(
  { newPassword }: AuthAct,
  { body = {}, request }: { readonly body: Readonly<Record<string, unknown>> | undefined; readonly request: FastifyRequest },
  tools: AuthTools,
): Promise<void> {
  const { email: named, token } = body;
  const password = newPassword && body[newPassword];
  if (typeof password !== 'string') return;
  const found = async (): Promise<string | undefined> =>
    typeof token === 'string' ? (await tools.auth()).findResetAddress(token) : (await findSessionUser(request, tools))?.email;
  await refuseCommonPassword(password, typeof named === 'string' ? named : await found());
}

/**
 * The name of the route, not the path of the request. A path with a slash at its end or with `%65` for a letter reaches us, but better-auth
 * would count and refuse it as another.
 */
function authPath(path: string, request: FastifyRequest): string {
  const url = request.raw.url ?? '';
  return `/api${path}${url.includes('?') ? url.slice(url.indexOf('?')) : ''}`;
}

/** Adds one route of better-auth: our input rules and limits, then better-auth, then our form of responses. */
export function addAuthRoute(
  app: FastifyInstance,
  { name, endpoint, act = {} }: { readonly name: EndpointName; readonly endpoint: Endpoint; readonly act?: AuthAct | undefined },
  tools: AuthTools,
): void {
  const { method, path } = partsOf(name);
  const handler = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const body = endpoint.body && bodyOf.parse(readBody(request, endpoint.body));
    const email = typeof body?.['email'] === 'string' ? body['email'] : '';
    await checkNewPassword(act, { body, request }, tools);
    await takeAttempt(act, email, { limits: tools.limits, address: request.ip });
    const user = act.secondFactor || act.audit ? await findSessionUser(request, tools) : undefined;
    if (act.secondFactor) await refuseMisplaced(act.secondFactor, user, tools.db);
    const question = { method: method === 'GET' ? method : 'POST', path: authPath(path, request), body } as const;
    const response = await askAuth(request, question, tools);
    if (act.secondFactor) await noteSecondFactor(act.secondFactor, { request, response, user, db: tools.db });
    const signedIn = await whoSignedIn(act, { email, user, response });
    if (signedIn !== undefined) await welcome({ email: signedIn, from: request.ip }, tools);
    await noteInAudit(act, { signedIn, user, from: request.ip, db: tools.db });
    const password = body?.['password'];
    if (name === 'POST /auth/sign-up/email' && typeof password === 'string') {
      reply.header('set-cookie', await tools.signedUp.issue(email, password));
    }
    return send(response, reply);
  };
  app.route({ method, url: `/api${path}`, exposeHeadRoute: false, handler });
}

/** The steps after every kind of sign-in. */
export async function welcome(person: { email: string; from: string }, tools: AuthTools): Promise<void> {
  await tools.limits.forgiveSignIn(person.email, person.from);
  await keepAccount(person, tools);
}

async function noteInAudit(
  { audit }: AuthAct,
  { signedIn, user, from, db }: { signedIn: string | undefined; user: SessionUser | undefined; from: string; db: Pool },
): Promise<void> {
  if (signedIn !== undefined) await noteAccount(db, { action: 'account.sign_in', email: signedIn, from });
  if (audit && user) await noteAccount(db, { action: audit, email: user.email, from });
}

/**
 * The address of the person whose session begins with this response. After the password alone, a sign-in with two steps has no session yet.
 */
async function whoSignedIn(
  { counts, secondFactor }: AuthAct,
  { email, user, response }: { email: string; user: SessionUser | undefined; response: Response },
): Promise<string | undefined> {
  if (counts === 'sign-in') return (await asksForSecondFactor(response)) ? undefined : email;
  return secondFactor && !user ? (await findSignedIn(response))?.email : undefined;
}

/**
 * The person whose session a request has.
 * @throws the database's error when it is down
 */
export async function findSessionUser(
  caller: FastifyRequest,
  { auth, db }: Pick<AuthTools, 'auth' | 'db'>,
): Promise<SessionUser | undefined> {
  const found = await (await auth()).findSession(authHeaders(caller)).catch(async (error: unknown) => {
    await requireDatabase(db);
    throw error;
  });
  return found.user;
}

interface SignedIn {
  readonly email: string;
  /** The network address that the person came from. */
  readonly from: string;
}

const FIND = 'SELECT id FROM auth_user WHERE email = lower($1)';

/** A person who signs in within the grace keeps the account. Call it once there is a session. */
async function keepAccount({ email, from }: SignedIn, { db, mail, log }: { db: Pool; mail: MailSender; log: Log }): Promise<void> {
  const { rows } = await db.query<{ id: string }>(FIND, [email.trim()]);
  const userId = rows[0]?.id;
  if (userId === undefined) return;
  const isPersonAlone = await undoPersonDeletion(db, userId);
  if (!isPersonAlone && !(await undoDeletion(db, { userId, actor: { name: `dashboard:${email.trim().toLowerCase()}`, from } }))) return;
  await mail
    .send(keptMail(email, { isPersonAlone }, mail.installation))
    .catch((err: unknown) => log.warn({ err }, 'a person could not be told by mail that the account is kept'));
}
