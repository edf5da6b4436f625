import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import fastifyStatic from '@fastify/static';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type z } from 'zod';
import * as account from '../../../services/dashboard/contract/account';
import * as signIn from '../../../services/dashboard/contract/sign-in';
import * as alerts from '../../../services/dashboard/contract/alerts';
import { auditPage } from '../../../services/dashboard/contract/audit';
import { explanation, refusalPage } from '../../../services/dashboard/contract/explain';
import * as keys from '../../../services/dashboard/contract/keys';
import * as plans from '../../../services/dashboard/contract/plans';
import { requestPage } from '../../../services/dashboard/contract/requests';
import * as statements from '../../../services/dashboard/contract/statements';
import * as team from '../../../services/dashboard/contract/team';
import * as tokens from '../../../services/dashboard/contract/tokens';
import { tryAnswer, tryBody } from '../../../services/dashboard/contract/try';
import { keyUsage, usage } from '../../../services/dashboard/contract/usage';
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

type Body = Record<string, unknown>;
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
  const route = (
    method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    answer: z.ZodType | undefined,
    work: (call: Call) => unknown,
  ): void => {
    app.route({
      method,
      url: `/api${path}`,
      handler: async (request: FastifyRequest, reply) => {
        const call = { params: request.params, query: request.query, body: request.body ?? {} } as Call;
        if (method !== 'GET') state.requests.push({ method, path: request.url, body: call.body });
        const data = await work(call);
        return reply.type('application/json').send(answer ? JSON.stringify(answer.parse(data)) : JSON.stringify(data ?? {}));
      },
    });
  };
  route('GET', '/session', account.session, () => state.session());
  route('POST', '/account/delete', account.deletion, () => ({ erasedAt: new Date(Date.now() + 14 * 86_400_000).toISOString() }));
  route('POST', '/account/email', account.emailChange, ({ body }) => ({ email: account.emailChangeBody.parse(body).email }));
  route('POST', '/account/email/confirm', account.emailConfirmation, ({ body }) => ({
    state: account.emailConfirmBody.parse(body).token === 'second' ? 'changed' : 'waiting',
  }));
  route('POST', '/account/export', undefined, () => ({ exported_at: new Date().toISOString() }));
  route('GET', '/installation', account.installation, () => ({
    hasOutbox: true,
    gatewayUrl: 'http://127.0.0.1:8000',
    providers: state.providers,
    hasPasskeys: true,
  }));
  route('GET', '/account', account.person, () => ({
    email: 'asha@example.com',
    hasSecondFactor: state.hasSecondFactor,
    quotaTimeZone: 'Asia/Kolkata',
    // Only the page of who is in none asks.
    isMember: false,
    invitations: state.ownInvitations,
  }));
  route('POST', '/account/invitations/:id/accept', undefined, () => ({}));
  route('GET', '/account/ways', signIn.ways, () => state.ways);
  route('GET', '/outbox', account.outbox, () => ({ mails: state.mails }));
  route('GET', '/keys', keys.keyPage, ({ query }) => state.keyPage(query));
  route('GET', '/key-tags', keys.tagList, () => state.tagList());
  route('POST', '/keys/revoke', keys.revokedKeys, ({ body }) => state.revokeKeys(keys.revokeKeysBody.parse(body).ids));
  route('POST', '/keys', keys.createdKey, ({ body }) => state.createKey(keys.createKeyBody.parse(body)));
  route('GET', '/keys/:id', keys.key, ({ params }) => state.key(params['id'] ?? ''));
  route('PATCH', '/keys/:id', keys.key, ({ params, body }) => state.changeKey(params['id'] ?? '', keys.changeKeyBody.parse(body)));
  route('PUT', '/keys/:id/rules', keys.key, ({ params, body }) => state.changeKey(params['id'] ?? '', keys.replaceRulesBody.parse(body)));
  for (const [act, next] of [
    ['activate', 'active'],
    ['deactivate', 'inactive'],
    ['revoke', 'revoked'],
  ] as const) {
    route('POST', `/keys/:id/${act}`, keys.key, ({ params, body }) =>
      state.changeKey(params['id'] ?? '', { ...keys.versionBody.parse(body), state: next }),
    );
  }
  route('POST', '/keys/:id/rotate', keys.createdKey, ({ params, body }) =>
    state.rotate(params['id'] ?? '', keys.rotateKeyBody.parse(body)),
  );
  route('POST', '/keys/:id/simulate', keys.simulation, ({ body }) => state.simulate(keys.simulateBody.parse(body)));
  route('GET', '/keys/:id/propagation', keys.propagation, () => state.propagation());
  route('GET', '/products', plans.productList, () => state.products());
  route('POST', '/subscriptions', plans.subscription, ({ body }) => state.subscribe(plans.subscribeBody.parse(body)));
  route('PUT', '/subscriptions/:id/plan', plans.subscription, ({ params, body }) =>
    state.changePlan(params['id'] ?? '', plans.changePlanBody.parse(body)),
  );
  route('POST', '/plan-requests', plans.planRequest, ({ body }) => state.askForPlan(plans.askForPlanBody.parse(body)));
  route('POST', '/plan-requests/:id/withdraw', plans.planRequest, ({ params }) => state.withdrawRequest(params['id'] ?? ''));
  route('GET', '/statements', statements.statementMonths, () => state.statementMonths());
  route('GET', '/statement', statements.statementAnswer, ({ query }) => state.statement(query['month'] ?? ''));
  route('GET', '/keys/:id/usage', keyUsage, ({ params, query }) => state.keyUsage(params['id'] ?? '', query));
  route('GET', '/usage', usage, ({ query }) => state.usage(query));
  route('GET', '/explain/:requestId', explanation, ({ params }) => state.explain(params['requestId'] ?? ''));
  route('GET', '/refusals', refusalPage, () => ({ refusals: state.refusals, next: null }));
  route('GET', '/requests', requestPage, ({ query }) => state.requestPage(query));
  route('GET', '/alerts', alerts.alertPage, () => state.alertPage());
  route('GET', '/alerts/settings', alerts.alertSettings, () => state.alertSettings);
  route('PUT', '/alerts/settings', alerts.alertSettings, ({ body }) => {
    state.alertSettings = { ...state.alertSettings, ...alerts.alertSettingsBody.parse(body) };
    return state.alertSettings;
  });
  route('PUT', '/subscriptions/:id/thresholds', alerts.thresholds, ({ params, body }) =>
    state.setThresholds(params['id'] ?? '', alerts.thresholds.parse(body)),
  );
  route('PUT', '/subscriptions/:id/cap', plans.subscription, ({ params, body }) =>
    state.capDay(params['id'] ?? '', plans.dailyCapBody.parse(body).dailyCap),
  );
  route('GET', '/webhooks', alerts.webhookList, () => ({ webhooks: state.webhooks, mayBePrivate: state.mayBePrivate }));
  route('POST', '/webhooks', alerts.createdWebhook, ({ body }) => state.addWebhook(alerts.createWebhookBody.parse(body).url));
  route('GET', '/webhooks/:id/deliveries', alerts.deliveryPage, () => ({ deliveries: state.deliveries, next: null }));
  route('GET', '/tokens', tokens.tokenList, () => ({ tokens: state.tokens }));
  route('POST', '/tokens', tokens.createdToken, ({ body }) => state.createToken(tokens.createTokenBody.parse(body)));
  route('POST', '/tokens/:id/revoke', tokens.token, ({ params }) => state.revokeToken(params['id'] ?? ''));
  route('GET', '/team', team.team, () => state.team);
  route('POST', '/invitation', team.invitationOffer, ({ body }) => state.offer(team.invitationToken.parse(body).token));
  route('POST', '/organisation', team.ownMembership, ({ body }) => state.switchTo(team.switchBody.parse(body).customerId));
  route('GET', '/audit', auditPage, ({ query: { kind } }) => ({
    entries: state.audit.filter(({ action }) => kind === undefined || action.startsWith(`${kind}.`)),
    next: null,
  }));
  route('POST', '/try', tryAnswer, ({ body }) => state.tryOut(tryBody.parse(body)));
  addAccountRoutes(route, state);
}

type AddRoute = (method: 'GET' | 'POST', path: string, answer: undefined, work: (call: Call) => unknown) => void;

function addAccountRoutes(route: AddRoute, state: FakeState): void {
  route('POST', '/auth/sign-in/email', undefined, ({ body }) => state.signIn(String(body['password'])));
  route('POST', '/auth/sign-up/email', undefined, () => ({ token: null, user: { id: randomUUID() } }));
  route('POST', '/auth/verify-email', undefined, ({ body }) => state.verify(String(body['token']), String(body['password'])));
  route('POST', '/auth/send-verification-email', undefined, () => ({ status: true }));
  route('POST', '/auth/request-password-reset', undefined, () => ({ status: true }));
  route('POST', '/auth/reset-password', undefined, () => ({ status: true }));
  route('POST', '/auth/change-password', undefined, () => ({ token: null }));
  route('POST', '/auth/two-factor/enable', undefined, () => state.beginSecondFactor());
  route('POST', '/auth/two-factor/verify-totp', undefined, ({ body }) => state.checkCode(String(body['code'])));
  route('POST', '/auth/two-factor/disable', undefined, () => {
    state.hasSecondFactor = false;
  });
  route('POST', '/auth/sign-out', undefined, () => {
    state.isSignedIn = false;
  });
  route('GET', '/auth/list-sessions', undefined, () => state.sessions);
  route('GET', '/auth/get-session', undefined, () => ({ session: state.sessions[0] }));
}
