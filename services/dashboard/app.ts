import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { KEEP_ALIVE_MS } from '../../plugins/core/keep-alive';
import { newRequestId } from '../kit/service/context';
import { drainOnClose } from '../kit/drain';
import { PROBLEM_TYPE, ServiceError } from '../kit/errors';
import { type Metrics } from '../kit/metrics';
import { NO_JSON_SCHEMAS } from '../kit/no-json-schemas';
import { readDocument } from '../openapi/read-document';
import { KeyChanged } from '../selling/keys/change-key';
import { type VersionConflict } from '../selling/operations/version';
import { SubscriptionChanged } from '../selling/subscriptions/change-subscription';
import { WebhookChanged } from '../selling/webhooks/change-webhooks';
import { addApi, memberHandlers } from './add-api';
import { answerError } from './http/answer-error';
import { createAttemptLimits } from './http/attempt-limits';
import { createPasswordHasher } from './sign-in/password-hash';
import { createSignedUpProof } from './sign-in/signed-up-proof';
import { type SignInProvider } from './sign-in/providers/provider-settings';
import { checkOrigin } from './http/own-origin';
import { type AuthSource } from './sign-in/create-auth';
import { type DashboardDeps, type GatewayPort, type MailSender } from './http/dashboard-deps';
import { addSellerRoutes, SELLER_PREFIX } from './seller/api/seller-routes';
import { addManagementRoutes, MANAGEMENT_PREFIX } from './customer/management/management-routes';
import { toKey } from './customer/keys/key-handlers';
import { subscriptionFields } from './customer/plans/subscription-use';
import { toWebhook } from './customer/webhooks/webhook-handlers';
import { createOrganisationChoice } from './sign-in/organisation-choice';
import { findOperatorCaller } from './sign-in/find-caller';
import { EVENTS_PREFIX, servePaymentEvents } from './billing/payment-events';
import { addViewRoutes } from './seller/console/view-routes';
import { securityHeaders } from './http/security-headers';
import { brandPage } from './brand/brand-page';
import { type Description, describeSold, type DescriptionInput } from './storefront/description';
import { keepDescription } from './storefront/keep-description';
import { plainFolder, type SellersFolder } from './storefront/sellers-folder';
import { servePublicTry } from './storefront/public-try';
import { type PublicPages, servePublicPages } from './storefront/public-pages';
import { LINK_PATHS } from './storefront/status-links';
import { serveGatewayRoot } from './storefront/gateway-root';
import { keepDocument, serveDocument } from './http/serve-document';
import { isPage, serveWeb } from './http/serve-web';
import { type OperatorCaller } from './http/callers';
import { shapeAnswer } from './http/shape-answer';
import { webhook } from './contract/alerts';
import { key } from './contract/keys';
import { subscription } from './contract/plans';

export interface DashboardAppOptions {
  readonly deps: DashboardDeps;
  readonly auth: AuthSource;
  readonly mail: MailSender;
  /** Keys the names under which attempts are counted. */
  readonly secret: string;
  /** Origin of the dashboard as browsers see it. */
  readonly url: string;
  /** Proxies whose X-Forwarded-For is believed. */
  readonly trustedProxies: readonly string[];
  /** Folder of the built pages. */
  readonly webRoot: string;
  /** Providers for signing in besides a password; none unless given. `auth` must have the same ones. */
  readonly providers?: readonly SignInProvider[];
  /** The installation's brand and pages of text. Default: ours alone. */
  readonly folder?: SellersFolder;
  /** Makes the calls that readers without an account try out. If absent, they cannot try any. */
  readonly readerGateway?: GatewayPort | undefined;
  readonly metrics: Metrics;
  /** Reads the description of our services. Default: as the build wrote it. */
  readonly readDocument?: () => string;
  /** Makes the description, for example in a thread of its own. Default: in this one. */
  readonly describe?: (input: DescriptionInput) => Promise<Description>;
}

/** 1,000 rules of 255 characters fit, even if every character is escaped. */
const BODY_LIMIT_BYTES = 2 * 1024 * 1024;
const REQUEST_TIMEOUT_MS = 30_000;

/** The dashboard's HTTP side: API, accounts, pages. Ready for `inject` and `listen`. */
export async function createDashboardApp(options: DashboardAppOptions): Promise<FastifyInstance> {
  const { deps, auth, url, secret, folder = plainFolder(), providers = [] } = options;
  const app = fastify({
    ...NO_JSON_SCHEMAS,
    logger: false,
    genReqId: () => newRequestId(),
    requestIdHeader: false,
    bodyLimit: BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    trustProxy: options.trustedProxies.length > 0 ? [...options.trustedProxies] : false,
    routerOptions: { ignoreTrailingSlash: true },
    // Hooks do not see these errors.
    frameworkErrors: (error, request, reply) => void sendError(error, { request, reply: reply.headers(securityHeaders(url)), deps }),
  });
  // Browsers retry by themselves, so a balancer need not notice first.
  drainOnClose(app);
  takeJsonOnly(app);
  addHooks(app, options);
  app.setErrorHandler((error, request, reply) => sendError(error, { request, reply, deps, sendPage: pages.sendFailure }));
  const readBuilt = options.readDocument ?? ((): string => readDocument(deps.gatewayUrl));
  const { describe = (input) => Promise.resolve(describeSold(input)) } = options;
  const description = keepDescription(deps, { readBuilt, title: () => folder.brand.name, describe });
  const document = keepDocument({ revision: description.revision, read: async () => (await description.read()).text });
  serveDocument(app, document, { path: '/openapi.json' });
  serveGatewayRoot(app, deps, { document, url, folder });
  const hasher = createPasswordHasher();
  const signedUp = createSignedUpProof({ db: deps.db, secret, url, hasher, now: () => deps.clock.now() });
  const { db, log } = deps;
  const tools = { auth, db, log, url, limits: createAttemptLimits(db, secret), signedUp, mail: options.mail, hasher, providers };
  const findOperator = (request: FastifyRequest, reply: FastifyReply): Promise<OperatorCaller> => findOperatorCaller(request, reply, tools);
  addApi(app, { ...tools, deps, choice: createOrganisationChoice({ secret, url }), findOperator });
  servePaymentEvents(app, deps);
  addViewRoutes(app, { deps, memberHandlers, findOperator });
  addManagementRoutes(app, { deps, url, memberHandlers });
  addSellerRoutes(app, { deps, url, memberHandlers });
  const sendMissing: PublicPages['sendMissing'] = (request, reply) => pages.sendMissing(request, reply);
  const sendApp = await serveWeb(app, { root: options.webRoot, url, dress: (html) => brandPage(html, folder.brand), sendMissing });
  const pages = servePublicPages(app, {
    deps,
    folder,
    url,
    secret,
    description,
    sendApp,
    canTry: options.readerGateway !== undefined,
  });
  if (options.readerGateway) servePublicTry(app, { deps, secret, gateway: options.readerGateway });
  return app;
}

/** A body is JSON or refused (415), because a form on another site cannot send JSON. An empty one counts as no body. */
function takeJsonOnly(app: FastifyInstance): void {
  const parse = app.getDefaultJsonParser('error', 'error');
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'string' }, (request, body, done) => {
    if (body.length === 0) done(null, undefined);
    else void parse(request, body.toString(), done);
  });
}

/** Looks at the route's own path, because a request may spell it differently. A request without a route changes nothing. */
function isForPrograms({ routeOptions, url }: FastifyRequest): boolean {
  const path = routeOptions.url ?? url;
  const isProgram = [MANAGEMENT_PREFIX, SELLER_PREFIX].some((prefix) => path.startsWith(`${prefix}/`));
  return isProgram || path.startsWith(EVENTS_PREFIX);
}

function addHooks(app: FastifyInstance, { deps, url, metrics }: DashboardAppOptions): void {
  const headers = securityHeaders(url);
  app.addHook('onRequest', (request, reply, done) => {
    reply.headers(headers);
    // The route's own path: what was asked for may be spelt in other ways.
    if ((request.routeOptions.url ?? request.url).startsWith('/api/')) reply.header('Cache-Control', 'no-store');
    // No cookie counts there, so that no other site's page can do anything in somebody's name. Mail programs end mail by a POST (RFC 8058).
    if (!isForPrograms(request) && request.routeOptions.url !== LINK_PATHS.end) checkOrigin(request, url);
    done();
  });
  app.addHook('onResponse', (request, reply, done) => {
    // The route's own path: what was asked for may hold a token.
    const route = request.is404 ? 'page' : (request.routeOptions.url ?? 'page');
    metrics.countRequest({ service: 'dashboard', route, status: reply.statusCode, mode: 'none' }, reply.elapsedTime / 1000);
    const durationMs = Math.round(reply.elapsedTime * 10) / 10;
    deps.log.info({ requestId: request.id, method: request.method, route, status: reply.statusCode, durationMs });
    done();
  });
}

/** The present state of what was changed meanwhile, as its endpoint returns it; undefined for a subject that no endpoint shows. */
function showConflict(conflict: VersionConflict): unknown {
  if (conflict instanceof KeyChanged) return shapeAnswer(key, toKey(conflict.current));
  if (conflict instanceof WebhookChanged) return shapeAnswer(webhook, toWebhook(conflict.current));
  if (!(conflict instanceof SubscriptionChanged)) return undefined;
  const shown = subscription.omit({ daily: true, monthly: true, refunds: true, test: true, includedNow: true });
  return shapeAnswer(shown, subscriptionFields(conflict.current));
}

interface FailedCall {
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
  readonly deps: DashboardDeps;
  /** Shows a failure to a person who opened a page. If absent, the failure is sent as to a program. */
  readonly sendPage?: PublicPages['sendFailure'];
}

async function sendError(error: unknown, { request, reply, deps, sendPage }: FailedCall): Promise<FastifyReply> {
  // The client left while its form was being sent: not a fault, and nobody reads the response.
  const hasLeft = request.raw.destroyed && !request.raw.complete;
  const failure = hasLeft ? new ServiceError('invalid_request') : error;
  const { status, headers, body, unexpected } = answerError(failure, request.id, showConflict);
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const line = { err: cause, requestId: request.id, route: request.routeOptions.url };
  if (hasLeft) deps.log.debug(line, 'the client broke off its request');
  else if (unexpected) deps.log.error(line, 'a request could not be processed');
  else if (status >= 500) deps.log.warn(line, 'a request failed');
  reply.code(status).headers(headers);
  if (sendPage && status >= 500 && isPage(request) && /\btext\/html\b/.test(request.headers.accept ?? '')) {
    try {
      return await sendPage(request, reply);
    } catch (cause) {
      deps.log.error({ err: cause, requestId: request.id }, 'the page of a failure could not be made');
    }
  }
  return reply.header('Content-Type', PROBLEM_TYPE).send(JSON.stringify(body));
}
