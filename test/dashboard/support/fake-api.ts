import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Endpoint } from '../../../services/dashboard/contract/endpoint';
import { contract } from '../../../services/dashboard/contract/endpoints';
import { FakeProblem } from './fake-problem';
import { FakeState } from './fake-state';

const ROOT = join(__dirname, '..', '..', '..');
/** The built pages, from the sources' folder and from dist/ alike. */
export const PAGES = join(ROOT.endsWith('dist') ? ROOT : join(ROOT, 'dist'), 'services', 'dashboard', 'web');

/** As the build wrote it, with the gateway of the fake session. */
const DOCUMENT = join(PAGES, '..', '..', 'openapi', 'document.json');
const readDocument = (): string => readFileSync(DOCUMENT, 'utf8').replaceAll('https://gateway.invalid', 'http://127.0.0.1:8000');

/** The policy under which the pages must work. */
export const POLICY =
  "default-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'";

export interface FakeApi {
  readonly url: string;
  /** What it answers with; tests change it between requests. */
  readonly state: FakeState;
  close(): Promise<void>;
}

type Body = any;
interface Call {
  readonly params: Record<string, string>;
  readonly query: Record<string, string>;
  readonly body: Body;
}

/** Serves the built pages and an API that lives in memory. Every answer is checked against the contract. */
export async function startFakeApi(state = new FakeState()): Promise<FakeApi> {
  const app = fastify();
  await app.register(fastifyStatic, { root: PAGES, index: false, wildcard: true });
  app.addHook('onRequest', async (request, reply) => {
    reply.header('Content-Security-Policy', POLICY);
    if (request.url.startsWith('/api/')) await refuseWhenFaulty(state, request.url);
  });
  app.setErrorHandler((error, _request, reply) => answerError(error, reply));
  app.setNotFoundHandler((request, reply) => {
    if (request.url.startsWith('/api/'))
      return reply.code(404).type('application/problem+json').send({ code: 'route_unknown', title: 'No such route' });
    return reply.type('text/html').send(readFileSync(join(PAGES, 'index.html')));
  });
  app.get('/', (_request, reply) => reply.type('text/html').send(readFileSync(join(PAGES, 'index.html'))));
  app.get('/openapi.json', (_request, reply) => reply.type('application/json').send(readDocument()));
  addRoutes(app, state);
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  return { url, state, close: () => app.close() };
}

async function refuseWhenFaulty(state: FakeState, url: string): Promise<void> {
  await state.isAnswering;
  if (state.isAway) throw new FakeProblem(503, 'service_not_ready');
  const isOpen = ['/api/installation', '/api/outbox', '/api/invitation', '/api/auth/'].some((path) => url.startsWith(path));
  if (!state.isSignedIn && !isOpen) throw new FakeProblem(401, 'not_signed_in');
}

function answerError(error: unknown, reply: FastifyReply): FastifyReply {
  const problem = error instanceof FakeProblem ? error : new FakeProblem(500, 'processing_failed', { detail: String(error) });
  const detail = `This is what the API says about ${problem.code}.`;
  return reply
    .code(problem.status)
    .type('application/problem+json')
    .send({ title: problem.code, detail, ...problem.members, code: problem.code });
}

function addRoutes(app: FastifyInstance, state: FakeState): void {
  const route = (method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE', path: string, work: (call: Call) => unknown): void => {
    const { body, answer } = (contract as Readonly<Record<string, Endpoint>>)[`${method} ${path}`] ?? {};
    const isOwn = !path.startsWith('/auth/');
    app.route({
      method,
      url: `/api${path}`,
      handler: async (request: FastifyRequest, reply) => {
        // Read as the contract has it, and again as text: the state keeps what pages are told.
        const read: unknown = isOwn && body ? JSON.parse(JSON.stringify(body.parse(request.body ?? {}))) : (request.body ?? {});
        const call = { params: request.params, query: request.query, body: read } as Call;
        if (method !== 'GET') state.requests.push({ method, path: request.url, body: call.body });
        const data = await work(call);
        return reply.type('application/json').send(JSON.stringify(isOwn && answer ? answer.parse(data) : (data ?? {})));
      },
    });
  };
  route('GET', '/session', () => state.session());
  route('POST', '/account/delete', () => ({ erasedAt: new Date(Date.now() + 14 * 86_400_000).toISOString() }));
  route('POST', '/account/email', ({ body }) => ({ email: body.email }));
  route('POST', '/account/email/confirm', ({ body }) => ({
    state: body.token === 'second' ? 'changed' : 'waiting',
  }));
  route('POST', '/account/export', () => ({ exported_at: new Date().toISOString() }));
  route('GET', '/installation', () => ({
    hasOutbox: true,
    gatewayUrl: 'http://127.0.0.1:8000',
    providers: state.providers,
    hasPasskeys: true,
  }));
  route('GET', '/account', () => ({
    email: 'asha@example.com',
    hasSecondFactor: state.hasSecondFactor,
    quotaTimeZone: 'Asia/Kolkata',
    // Only the page of who is in none asks.
    isMember: false,
    invitations: state.ownInvitations,
  }));
  route('POST', '/account/invitations/:id/accept', () => ({}));
  route('GET', '/account/ways', () => state.ways);
  route('GET', '/outbox', () => ({ mails: state.mails }));
  route('GET', '/keys', ({ query }) => state.keyPage(query));
  route('GET', '/key-tags', () => state.tagList());
  route('POST', '/keys/revoke', ({ body }) => state.revokeKeys(body.ids));
  route('POST', '/keys', ({ body }) => state.createKey(body));
  route('GET', '/keys/:id', ({ params }) => state.key(params['id'] ?? ''));
  route('PATCH', '/keys/:id', ({ params, body }) => state.changeKey(params['id'] ?? '', body));
  route('PUT', '/keys/:id/rules', ({ params, body }) => state.changeKey(params['id'] ?? '', body));
  for (const [act, next] of [
    ['activate', 'active'],
    ['deactivate', 'inactive'],
    ['revoke', 'revoked'],
  ] as const) {
    route('POST', `/keys/:id/${act}`, ({ params, body }) => state.changeKey(params['id'] ?? '', { ...body, state: next }));
  }
  route('POST', '/keys/:id/rotate', ({ params, body }) => state.rotate(params['id'] ?? '', body));
  route('POST', '/keys/:id/simulate', ({ body }) => state.simulate(body));
  route('GET', '/keys/:id/propagation', () => state.propagation());
  route('GET', '/products', () => state.products());
  route('POST', '/subscriptions', ({ body }) => state.subscribe(body));
  route('PUT', '/subscriptions/:id/plan', ({ params, body }) => state.changePlan(params['id'] ?? '', body));
  route('POST', '/plan-requests', ({ body }) => state.askForPlan(body));
  route('POST', '/plan-requests/:id/withdraw', ({ params }) => state.withdrawRequest(params['id'] ?? ''));
  route('GET', '/statements', () => state.statementMonths());
  route('GET', '/statement', ({ query }) => state.statement(query['month'] ?? ''));
  route('GET', '/keys/:id/usage', ({ params, query }) => state.keyUsage(params['id'] ?? '', query));
  route('GET', '/usage', ({ query }) => state.usage(query));
  route('GET', '/explain/:requestId', ({ params }) => state.explain(params['requestId'] ?? ''));
  route('GET', '/refusals', () => ({ refusals: state.refusals, next: null }));
  route('GET', '/requests', ({ query }) => state.requestPage(query));
  route('GET', '/alerts', () => state.alertPage());
  route('GET', '/alerts/settings', () => state.alertSettings);
  route('PUT', '/alerts/settings', ({ body }) => {
    state.alertSettings = { ...state.alertSettings, ...body };
    return state.alertSettings;
  });
  route('PUT', '/subscriptions/:id/thresholds', ({ params, body }) => state.setThresholds(params['id'] ?? '', body));
  route('PUT', '/subscriptions/:id/cap', ({ params, body }) => state.capDay(params['id'] ?? '', body.dailyCap));
  route('GET', '/webhooks', () => ({ webhooks: state.webhooks, mayBePrivate: state.mayBePrivate }));
  route('POST', '/webhooks', ({ body }) => state.addWebhook(body.url));
  route('GET', '/webhooks/:id/deliveries', () => ({ deliveries: state.deliveries, next: null }));
  route('GET', '/tokens', () => ({ tokens: state.tokens }));
  route('POST', '/tokens', ({ body }) => state.createToken(body));
  route('POST', '/tokens/:id/revoke', ({ params }) => state.revokeToken(params['id'] ?? ''));
  route('GET', '/team', () => state.team);
  route('PUT', '/team/name', ({ body }) => state.rename(body.name));
  route('POST', '/invitation', ({ body }) => state.offer(body.token));
  route('POST', '/organisation', ({ body }) => state.switchTo(body.customerId));
  route('GET', '/audit', ({ query: { kind } }) => ({
    entries: state.audit.filter(({ action }) => kind === undefined || action.startsWith(`${kind}.`)),
    next: null,
  }));
  route('POST', '/try', ({ body }) => state.tryOut(body));
  addAccountRoutes(route, state);
}

type AddRoute = (method: 'GET' | 'POST', path: string, work: (call: Call) => unknown) => void;

function addAccountRoutes(route: AddRoute, state: FakeState): void {
  route('POST', '/auth/sign-in/email', ({ body }) => state.signIn(String(body['password'])));
  route('POST', '/auth/sign-up/email', () => ({ token: null, user: { id: randomUUID() } }));
  route('POST', '/auth/verify-email', ({ body }) => state.verify(String(body['token']), String(body['password'])));
  route('POST', '/auth/send-verification-email', () => ({ status: true }));
  route('POST', '/auth/request-password-reset', () => ({ status: true }));
  route('POST', '/auth/reset-password', () => ({ status: true }));
  route('POST', '/auth/change-password', () => ({ token: null }));
  route('POST', '/auth/two-factor/enable', () => state.beginSecondFactor());
  route('POST', '/auth/two-factor/verify-totp', ({ body }) => state.checkCode(String(body['code'])));
  route('POST', '/auth/two-factor/disable', () => {
    state.hasSecondFactor = false;
  });
  route('POST', '/auth/sign-out', () => {
    state.isSignedIn = false;
  });
  route('GET', '/auth/list-sessions', () => state.sessions);
  route('GET', '/auth/get-session', () => ({ session: state.sessions[0] }));
}
