import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createHmac, randomBytes, randomUUID } from 'node:crypto';
import { type FastifyInstance, type LightMyRequestResponse } from 'fastify';
import { type Pool } from 'pg';
import { type Clock, systemClock } from '../../../plugins/core/ports';
import { createDashboardApp } from '../../../services/dashboard/app';
import { createAttemptLimits } from '../../../services/dashboard/http/attempt-limits';
import { createAuthLater } from '../../../services/dashboard/sign-in/create-auth';
import { noteAccount } from '../../../services/dashboard/sign-in/note-account';
import { createPasswordHasher, type PasswordHasher } from '../../../services/dashboard/sign-in/password-hash';
import { type SignInProvider } from '../../../services/dashboard/sign-in/providers/provider-settings';
import { createOutboxSender } from '../../../services/dashboard/mail/mail-sender';
import { type LiveSources, type Mail, type MailSender } from '../../../services/dashboard/http/dashboard-deps';
import { type Brand } from '../../../services/dashboard/brand/brand';
import { PLAIN_NAME } from '../../../services/dashboard/brand/plain-name';
import { type DocPages } from '../../../services/dashboard/storefront/doc-pages';
import { plainFolder, type SellersFolder } from '../../../services/dashboard/storefront/sellers-folder';
import { type Payments } from '../../../services/selling/billing/payments-of';
import { type PaymentWorkOptions } from '../../../services/dashboard/billing/start-payments';
import { READER_CALLS } from '../../../services/dashboard/storefront/public-try';
import { createMailboxNames } from '../../../services/selling/customers/mailbox';
import { createTryKeys } from '../../../services/dashboard/customer/requests/try-key';
import { GatewayCaller } from '../../../services/dashboard/customer/requests/gateway-caller';
import { createLog } from '../../../services/kit/log';
import { createMetrics } from '../../../services/kit/metrics';
import { eventually } from '../../support/eventually';
import { useOpened } from '../../support/opened';
import { watchCatalogue } from '../../../services/selling/catalogue/watch-catalogue';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { PATIENCE_MS, testDatabase } from '../../support/postgres/postgres';
import { OPERATION_REFUSALS } from '../../../services/selling/operations/operation-refusals';
import { type Audience, type Endpoint } from '../../../services/dashboard/contract/endpoint';
import { sellerOperations } from '../../../services/dashboard/seller/api/seller-operations';
import { contract } from '../../../services/dashboard/contract/endpoints';
import { hasOwnWords, type RefusalCode } from '../../../services/dashboard/contract/refusals';
import { newFolder } from '../../support/run-folder';

/** What anybody of an audience may be told, whatever was asked for. */
const USUAL: readonly RefusalCode[] = ['forbidden', 'not_signed_in', 'too_many_attempts'];
const OF_TOKENS: readonly RefusalCode[] = ['token_missing', 'token_not_valid', 'token_expired', 'scope_missing', 'customer_suspended'];
const OF_AUDIENCE: Readonly<Record<Audience, readonly RefusalCode[]>> = {
  members: [...OF_TOKENS, 'customers_only', 'organisation_missing', 'organisation_changed', 'role_forbids'],
  persons: ['customers_only'],
  accounts: ['customers_only'],
  operators: ['operators_only', 'second_factor_missing'],
  everybody: [],
};
/** Where an operator looks at what a customer sees. */
const VIEW = '/operator/customers/:viewed/view';
const OF_VIEWS: readonly RefusalCode[] = [...OF_AUDIENCE.operators, 'customer_unknown'];

/** By method and path below the prefix of the seller's API. */
const sellers = new Map(sellerOperations.map((each) => [each.name as string, each.endpoint]));
const OF_SELLERS: readonly RefusalCode[] = [...OF_TOKENS, 'customer_unknown'];

const endpoints: Readonly<Record<string, Endpoint | undefined>> = contract;

/** Whether it is one of the dashboard's codes, and not one of the kit or of better-auth. */
const isRefusalCode = (code: string): code is RefusalCode => hasOwnWords(code as RefusalCode) || code in OPERATION_REFUSALS;

function isDeclared(code: RefusalCode, { method, url }: { readonly method: string; readonly url: string }): boolean {
  const isView = url.startsWith(`/api${VIEW}`);
  const ofSellers = url.startsWith('/api/seller/') ? sellers.get(`${method} ${url.slice('/api/seller'.length)}`) : undefined;
  if (ofSellers) return [...USUAL, ...OF_SELLERS, ...(ofSellers.refuses ?? [])].includes(code);
  const endpoint = endpoints[`${method} ${url.replace(/^\/api(\/v1)?/, '').replace(VIEW, '')}`];
  // What better-auth refuses has codes of its own.
  if (!endpoint || url.startsWith('/api/auth/')) return true;
  const declared = [...USUAL, ...OF_AUDIENCE[endpoint.for], ...(isView ? OF_VIEWS : []), ...(endpoint.refuses ?? [])];
  return declared.includes(code);
}

/** Refusals that were sent, by endpoint, although the contract does not name them there. */
function watchRefusals(app: FastifyInstance): readonly string[] {
  const undeclared: string[] = [];
  app.addHook('onSend', (request, reply, payload, done) => {
    const url = request.routeOptions.url ?? '';
    const code: unknown = reply.statusCode >= 400 && typeof payload === 'string' ? /"code":"(\w+)"/.exec(payload)?.[1] : undefined;
    if (typeof code === 'string' && isRefusalCode(code) && !isDeclared(code, { method: request.method, url })) {
      undeclared.push(`${request.method} ${url} ${code}`);
    }
    done(null, payload);
  });
  return undeclared;
}

export const ORIGIN = 'http://dashboard.test';
export const PASSWORD = 'correct horse battery';

/** What the work of payments is given. */
type PaymentWorkTools = Omit<PaymentWorkOptions, 'ports' | 'everyMs'>;

export interface DashboardOptions {
  readonly clock?: Clock;
  readonly trustedProxies?: readonly string[];
  readonly hasOutbox?: boolean;
  readonly url?: string;
  /** Where calls are tried out; nothing answers at the one that pages show. */
  readonly gatewayUrl?: string;
  /** As pages show it; SHOWN_GATEWAY unless given. */
  readonly shownGatewayUrl?: string;
  readonly gatewayTimeoutMs?: number;
  readonly readDocument?: () => string;
  /** Files that the folder of the built pages has; none unless given, so that pages answer 503. */
  readonly webFiles?: Readonly<Record<string, string>>;
  /** The folder itself, in place of such files. */
  readonly webRoot?: string;
  /** What the installation calls itself; Tollgate unless given. */
  readonly brand?: Brand;
  /** Pages of text; ours alone unless given. */
  readonly pages?: DocPages;
  /** Both, as they change. */
  readonly folder?: SellersFolder;
  /** What services say of their sources; nobody is asked unless given. */
  readonly liveSources?: LiveSources;
  /** By whom people may sign in beside their passwords; nobody unless given. */
  readonly providers?: readonly SignInProvider[];
  /** Who takes payments; nobody unless given. */
  readonly payments?: (tools: PaymentWorkTools) => Payments;
  /** A pool of the test's own, for faults. */
  readonly db?: Pool;
  /** Whether passwords cost what they cost in production; next to nothing unless true. */
  readonly hasCostlyPasswords?: boolean;
  /** Hashes the passwords of those who sign in, in place of one without cost. */
  readonly hasher?: PasswordHasher;
}

/** Of a password: the least that the algorithm takes. */
export const NO_COST = { memoryCost: 8, timeCost: 1, parallelism: 1 };

export interface Ask {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly path: string;
  readonly body?: unknown;
  readonly cookie?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
  readonly from?: string;
}

/** What pages say the gateway's address is. */
export const SHOWN_GATEWAY = 'http://gateway.test';

/** A dashboard in this process, on a database of its own. */
export interface TestDashboard {
  readonly app: FastifyInstance;
  readonly pool: Pool;
  /** With the rights that the dashboard has in production. */
  readonly db: Pool;
  readonly databaseUrl: string;
  readonly mails: Mail[];
  /** Signs cookies and links. */
  readonly secret: string;
  /** Everything logged so far. */
  log(): string;
  ask(request: Ask): Promise<LightMyRequestResponse>;
  /** Adds somebody who has signed up, verified the address and signed in; no mail is sent. @returns the session's cookie */
  signIn(email?: string): Promise<string>;
  /** Signs up, verifies and signs in, for tests that read the mail. @returns the session's cookie */
  signUp(email: string): Promise<string>;
  close(): Promise<void>;
}

/** The link in a mail, as a path of the dashboard. */
export function linkOf(mail: Mail | undefined): string {
  const url = /https?:\/\/\S+/.exec(mail?.text ?? '')?.[0];
  if (url === undefined) throw new Error('the mail has no link');
  const { pathname, search } = new URL(url);
  return `${pathname}${search}`;
}

/** The token in the link of a mail. */
export function tokenOf(mail: Mail | undefined): string {
  const token = new URL(linkOf(mail), ORIGIN).searchParams.get('token');
  if (token === null) throw new Error('the link has no token');
  return token;
}

/** `name=value; …` of the cookies that an answer sets. */
export function cookieOf(response: LightMyRequestResponse): string {
  return response.cookies.map(({ name, value }) => `${name}=${encodeURIComponent(value)}`).join('; ');
}

/** Status and code of an answer, as `409 plan_paid`; the status alone where there is no code. */
export function verdict({ statusCode, body }: LightMyRequestResponse): string {
  const { code } = body.startsWith('{') ? (JSON.parse(body) as { code?: string }) : {};
  return code === undefined ? String(statusCode) : `${statusCode} ${code}`;
}

/** All of a list that comes page by page. @param get answers a query that begins with `&`, or none for the first page */
export async function readPages(list: string, get: (after: string) => Promise<LightMyRequestResponse>): Promise<any[]> {
  const rows: unknown[] = [];
  for (let after = ''; ;) {
    const page = (await get(after)).json();
    rows.push(...page[list]);
    if (page.next === null) return rows;
    after = `&after=${page.next}`;
  }
}

function recordedMail(mails: Mail[], { sender, brand }: { sender?: MailSender | undefined; brand?: Brand | undefined }): MailSender {
  return {
    // As it is now: a test may change it.
    get installation() {
      return brand?.name ?? PLAIN_NAME;
    },
    async send(mail) {
      await sender?.send(mail);
      mails.push(mail);
    },
    close: () => undefined,
  };
}

/** An address of its own for each person: limits by address are not what most tests are about. */
let people = 0;
function somewhere(): string {
  people += 1;
  return `198.51.${Math.floor(people / 250)}.${people % 250}`;
}

/** $1 address, $2 the hash of the password, $3 token of the session, $4 network address. */
const ADD_PERSON = `
WITH person AS (INSERT INTO auth_user (name, email, email_verified, created_at, updated_at) VALUES ('', lower($1), true, now(), now())
    ON CONFLICT (email) DO UPDATE SET email_verified = true RETURNING id, xmax = 0 AS is_new),
  way AS (INSERT INTO auth_account (account_id, provider_id, user_id, password, created_at, updated_at)
    SELECT id::text, 'credential', id, $2, now(), now() FROM person WHERE is_new)
INSERT INTO auth_session (expires_at, token, created_at, updated_at, ip_address, user_agent, user_id)
SELECT now() + interval '7 days', $3, now(), now(), $4, 'lightMyRequest', id FROM person`;

let passwordHash: Promise<string> | undefined;

async function signUpByMail({ ask, mails }: Pick<TestDashboard, 'ask' | 'mails'>, email: string): Promise<string> {
  const from = somewhere();
  await ask({ method: 'POST', path: '/api/auth/sign-up/email', body: { email, password: PASSWORD }, from });
  await eventually(() => mails.some(({ to }) => to === email));
  const body = { token: tokenOf(mails.find(({ to }) => to === email)), password: PASSWORD };
  const verified = await ask({ method: 'POST', path: '/api/auth/verify-email', body, from });
  if (verified.statusCode !== 200) throw new Error(`verifying answered ${verified.statusCode}: ${verified.body}`);
  return cookieOf(verified);
}

/**
 * What signing up, verifying and signing in leave in the database, by a tenth of the work; test/dashboard/sign-in takes each step by itself.
 * @returns the session's cookie
 */
async function addPerson({ pool, secret, url }: { pool: Pool; secret: string; url: string }, email: string): Promise<string> {
  const from = somewhere();
  const token = randomBytes(24).toString('base64url');
  passwordHash ??= createPasswordHasher(NO_COST).hash(PASSWORD);
  await pool.query(ADD_PERSON, [email, await passwordHash, token, from]);
  await createAttemptLimits(pool, secret).forgiveSignIn(email, from);
  await noteAccount(pool, { action: 'account.sign_in', email, from });
  const signature = createHmac('sha256', secret).update(token).digest('base64');
  return `${url.startsWith('https:') ? '__Secure-' : ''}tollgate.session_token=${encodeURIComponent(`${token}.${signature}`)}`;
}

/** The catalogue and the schema's version, as a new database has them. Rows that may not be deleted in production go here. */
const EMPTY = `
DO $$ DECLARE name text; BEGIN
  SET LOCAL session_replication_role = replica;
  FOR name IN SELECT relname FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
    AND relname NOT IN ('schema_migration', 'catalogue_revision', 'product', 'plan')
  LOOP EXECUTE format('DELETE FROM %I', name); END LOOP;
END $$`;

/** Leaves it without people and mail. */
export async function empty({ db, pool, mails }: TestDashboard): Promise<void> {
  // Requests of the last test may still write a letter.
  await eventually(() => db.waitingCount === 0 && db.idleCount === db.totalCount);
  await pool.query(EMPTY);
  mails.length = 0;
}

/** A dashboard for all tests of the block around it, there once they begin. If told so, each test finds it without people and mail. */
export function useDashboard(options: DashboardOptions = {}, isEmptied = false): TestDashboard {
  const dashboard = useOpened(() => startDashboard(options));
  if (isEmptied) {
    beforeEach(() => empty(dashboard));
  }
  return dashboard;
}

export async function startDashboard(options: DashboardOptions = {}): Promise<TestDashboard> {
  const database = await testDatabase();
  const { pool } = database;
  // With the rights that the dashboard has in production.
  const db = options.db ?? createPool(database.urlAs('tollgate_dashboard'), { max: 5, statementTimeoutMs: PATIENCE_MS });
  const mails: Mail[] = [];
  let logged = '';
  const log = createLog('dashboard', { level: 'debug', destination: { write: (line) => void (logged += line) } });
  const url = options.url ?? ORIGIN;
  const secret = randomBytes(32).toString('base64');
  const ownRoot = newFolder();
  for (const [name, text] of Object.entries(options.webFiles ?? {})) {
    mkdirSync(dirname(join(ownRoot, name)), { recursive: true });
    writeFileSync(join(ownRoot, name), text);
  }
  const outbox = options.hasOutbox ? createOutboxSender(db, { log, pageUrl: `${url}/outbox` }) : undefined;
  const mail = recordedMail(mails, { sender: outbox, brand: options.brand });
  const providers = options.providers ?? [];
  const hasher = options.hasCostlyPasswords ? {} : { hasher: options.hasher ?? createPasswordHasher(NO_COST) };
  const auth = createAuthLater({ db, secret, url, mail, log, providers, ...hasher });
  const gateway = new GatewayCaller({
    url: options.gatewayUrl ?? 'http://127.0.0.1:9',
    log,
    ...(options.gatewayTimeoutMs && { timeoutMs: options.gatewayTimeoutMs }),
  });
  const readerGateway = new GatewayCaller({ url: options.gatewayUrl ?? 'http://127.0.0.1:9', log, ...READER_CALLS });
  const app = await createDashboardApp({
    deps: {
      db,
      log,
      clock: options.clock ?? systemClock,
      timeZone: 'Asia/Kolkata',
      gatewayUrl: options.shownGatewayUrl ?? SHOWN_GATEWAY,
      catalogue: watchCatalogue(db),
      gateway,
      tryKeyOf: createTryKeys(secret),
      mailboxOf: createMailboxNames(secret),
      letters: { mail, url, limits: createAttemptLimits(db, secret) },
      hasOutbox: options.hasOutbox ?? false,
      ...(options.liveSources && { liveSources: options.liveSources }),
      ...(options.payments && {
        payments: options.payments({
          db,
          log,
          clock: options.clock ?? systemClock,
          catalogue: watchCatalogue(db),
        }),
      }),
    },
    auth,
    mail,
    secret,
    url,
    webRoot: options.webRoot ?? ownRoot,
    metrics: createMetrics(),
    providers,
    readerGateway,
    trustedProxies: options.trustedProxies ?? [],
    folder: options.folder ?? {
      ...plainFolder(),
      ...(options.brand && { brand: options.brand }),
      ...(options.pages && { pages: options.pages }),
    },
    ...(options.readDocument && { readDocument: options.readDocument }),
  });

  const undeclared = watchRefusals(app);

  const ask = ({ method = 'GET', path, body, cookie, headers = {}, from }: Ask): Promise<LightMyRequestResponse> =>
    app.inject({
      method,
      url: path,
      headers: { ...(method !== 'GET' && { origin: url }), ...(cookie && { cookie }), ...headers },
      ...(body !== undefined && {
        payload: JSON.stringify(body),
        headers: { origin: url, 'content-type': 'application/json', ...(cookie && { cookie }), ...headers },
      }),
      ...(from && { remoteAddress: from }),
    });
  const dashboard = {
    app,
    pool,
    db,
    databaseUrl: database.url,
    mails,
    secret,
    ask,
    log: () => logged,
    signIn: (email = `${randomUUID().slice(0, 8)}@example.com`) => addPerson({ pool, secret, url }, email),
    signUp: (email: string) => signUpByMail({ ask, mails }, email),
    async close() {
      await Promise.all([app.close(), gateway.close(), readerGateway.close()]);
      await db.end();
      await database.close();
      if (undeclared.length > 0) throw new Error(`refusals that the contract does not name: ${[...new Set(undeclared)].join(', ')}`);
    },
  };
  return dashboard;
}
