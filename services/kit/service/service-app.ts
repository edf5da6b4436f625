import { METHODS } from 'node:http';
import { type Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { KEEP_ALIVE_MS } from '../../../plugins/core/keep-alive';
import { systemClock, type Clock } from '../../../plugins/core/ports';
import { isExempt } from '../../../plugins/core/catalogue/refunds';
import { type ReadOn } from '../../../plugins/core/problems';
import { TRACE_HEADER } from '../../../plugins/core/proof/trace-context';
import { type ContextKeys } from '../../../plugins/core/proof/verify-context';
import { type CallState, stateOf } from './call-state';
import { accessHeaders, findProof, newRequestId, requestIdOf } from './context';
import { Cancellation, ClientGone } from '../deadline';
import { type ServiceDefinition } from './define-service';
import { drainOnClose, type Drain } from '../drain';
import { answerFailure, PROBLEM_TYPE, rawAnswer, ServiceError } from '../errors';
import { createLog, pathOf, scrubText, withoutRedaction, type Log } from '../log';
import { createMetrics, type Metrics } from '../metrics';
import { NO_JSON_SCHEMAS } from '../no-json-schemas';
import { giveUnitBack, type Refund } from './refund';
import { bindPath, createSlots, type RouteTools } from './run-route';
import { continueTrace, noteFailure, type SpanDescription } from '../tracing';
import { acceptWebSockets } from './web-socket';

export interface ServiceAppOptions<Deps> {
  /** The keys for verifying proofs. */
  readonly contextKeys: ContextKeys;
  readonly deps: Deps;
  readonly catalogue: Catalogue;
  /** Without it, units of failed requests stay charged, and responses say so. */
  readonly refund?: Refund | undefined;
  /** The pages that explain refusals to callers. */
  readonly readOn?: ReadOn | undefined;
  readonly clock?: Clock;
  /** Silent unless given. */
  readonly log?: Log;
  readonly metrics?: Metrics;
  /** Once the app is told to close, requests are still taken until this resolves. See `drainOnClose`. */
  readonly leave?: () => Promise<void>;
  /** How many requests of one subscription may run at once, for heavy products. The catalogue's numbers apply when absent. */
  readonly slots?: number | undefined;
  /** Milliseconds before a request without a slot is refused; a quarter of a second unless given. */
  readonly refusalPauseMs?: number | undefined;
}

/** Milliseconds for the whole request to arrive. */
const REQUEST_TIMEOUT_MS = 120_000;
/** Kong takes up to 32 KiB of headers and adds its own to them. */
const MAX_HEADER_BYTES = 65_536;
/** The client closed the connection first, so it never sees this status. It is nginx's number, for metrics and logs. */
const CLIENT_CLOSED_REQUEST = 499;

interface AppTools extends RouteTools {
  readonly service: ServiceDefinition;
  readonly contextKeys: ContextKeys;
  readonly refund: Refund | undefined;
  readonly readOn?: ReadOn | undefined;
  /** Log of one line for each request, whose members are known to be harmless. */
  readonly accessLog: Log;
  readonly metrics: Metrics;
  readonly catalogue: Catalogue;
}

/**
 * The HTTP side of a service: proof, input, validation, deadline, problems, refunds, headers, logs and metrics around its handlers. The app
 * is ready for `inject` and `listen`. Closing it ends open WebSockets and lets requests finish.
 */
export function createServiceApp<Deps>(service: ServiceDefinition<Deps>, options: ServiceAppOptions<Deps>): FastifyInstance {
  const clock = options.clock ?? systemClock;
  const log = options.log ?? createLog(service.name, { level: 'silent' });
  const metrics = options.metrics ?? createMetrics();
  const tools: AppTools = {
    ...options,
    service,
    clock,
    log,
    accessLog: withoutRedaction(log),
    metrics,
    refund: options.refund,
    takeSlot: createSlots(options.catalogue, options.slots),
    published: options.catalogue.find(service.products[0]) ?? { id: service.products[0], routes: [] },
  };
  const app = createServer(tools);
  addHooks(app, tools, drainOnClose(app, options.leave));
  for (const path of new Set(service.routes.map((route) => route.path))) {
    const routes = service.routes.filter((route) => route.path === path);
    app.route({ method: app.supportedMethods, url: path, exposeHeadRoute: false, handler: bindPath(routes, tools) });
  }
  app.setNotFoundHandler(() => {
    throw new ServiceError('route_unknown');
  });
  const closeSockets = acceptWebSockets(app.server, { ...tools, routes: service.routes, products: service.products });
  app.addHook('preClose', (done) => {
    closeSockets();
    done();
  });
  return app;
}

function createServer(tools: AppTools): FastifyInstance {
  const app = fastify({
    ...NO_JSON_SCHEMAS,
    logger: false,
    genReqId: () => '',
    requestIdHeader: false,
    return503OnClosing: false,
    forceCloseConnections: 'idle',
    keepAliveTimeout: KEEP_ALIVE_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
    clientErrorHandler: (error, socket) => answerBrokenRequest(error, socket),
    // The kit parses the query itself, because it must notice repeats and broken encoding.
    routerOptions: { ignoreTrailingSlash: true, querystringParser: () => ({}) },
    frameworkErrors: (error, request, reply) => {
      openCall(request, reply, tools);
      const refused = stateOf(request).proof ? error : new ServiceError('gateway_proof_missing');
      void sendFailure(refused, { request, reply, tools });
    },
  });
  // Registered as methods without a body, so that Fastify leaves every body to the kit's reader.
  for (const method of METHODS) if (method !== 'CONNECT') app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
  return app;
}

/** Sends a response even to bytes that are no HTTP request, if the socket still takes one. */
function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') {
    socket.destroy();
    return;
  }
  socket.end(rawAnswer(answerFailure(new ServiceError('invalid_request', { detail: 'The request is not valid HTTP.' }), newRequestId())));
}

function openCall(request: FastifyRequest, reply: FastifyReply, tools: AppTools): void {
  const { contextKeys: keys, service, clock } = tools;
  const { products, routes } = service;
  const links = routes.some((route) => route.takesLinks === true);
  const proof = findProof(request.headers, { keys, products, links, nowMs: clock.now() });
  const requestId = requestIdOf(request.headers, proof);
  const state: CallState = {
    requestId,
    proof,
    // A trace is trusted only behind the gateway. The plugin server judges the traces that strangers send.
    span: proof && continueTrace(request.headers[TRACE_HEADER], spanOf(service, requestId)),
    startedAtMs: clock.monotonic(),
    cancel: new Cancellation(),
    clientLeft: false,
    owesRefund: false,
    isRefused: false,
    cost: undefined,
    settled: undefined,
    recorded: false,
  };
  request.tollgate = state;
  reply.raw.once('close', () => {
    if (reply.raw.writableFinished) return;
    state.clientLeft = true;
    state.cancel.fire(new ClientGone());
    record(request, reply, tools);
  });
}

function spanOf({ name }: ServiceDefinition, requestId: string): SpanDescription {
  return { name: `service ${name}`, attributes: { 'tollgate.service': name, 'tollgate.request_id': requestId } };
}

function addHooks(app: FastifyInstance, tools: AppTools, drain: Drain): void {
  app.decorateRequest('tollgate', null);
  app.addHook('onRequest', (request, reply, done) => {
    openCall(request, reply, tools);
    if (stateOf(request).proof) return done();
    // Both codes refuse the request. The first also tells a gateway's health check, which has no proof, that this replica is going.
    done(new ServiceError(drain.isLeaving() ? 'service_not_ready' : 'gateway_proof_missing'));
  });
  app.addHook('onSend', (request, reply, payload, done) => {
    const send = (): void => {
      setHeaders(request, reply, tools.clock);
      done(null, payload);
    };
    // Nearly every response gives nothing back, so it need not wait a turn.
    const due = chargeDue(request, reply, tools);
    if (due) settleCharge(request, tools, due).then(send, done);
    else send();
  });
  app.addHook('onResponse', (request, reply, done) => {
    record(request, reply, tools);
    done();
  });
  app.setErrorHandler((error, request, reply) => sendFailure(error, { request, reply, tools }));
}

/** Lets a client finish sending. If the connection were reset, the response would be lost. The time-out of a request bounds it. */
function dropRest({ raw }: FastifyRequest): void {
  if (!raw.complete) raw.unpipe().resume();
}

function sendFailure(error: unknown, call: { request: FastifyRequest; reply: FastifyReply; tools: AppTools }): FastifyReply {
  const { request, reply, tools } = call;
  const state = stateOf(request);
  const { requestId, clientLeft, span } = state;
  dropRest(request);
  const { status, headers, body, unexpected, isRefunded, isRefusal } = answerFailure(error, requestId, tools.readOn);
  state.owesRefund = isRefunded;
  state.isRefused = isRefusal;
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  if (span && status >= 500) noteFailure(span, error);
  if (!clientLeft && unexpected) tools.log.error({ err: cause, requestId, route: routeOf(request) }, 'a request could not be processed');
  else if (!clientLeft && status >= 500)
    tools.log.warn({ err: cause, requestId, route: routeOf(request), code: body.code }, 'a request failed');
  return reply.code(status).headers(headers).header('Content-Type', PROBLEM_TYPE).send(JSON.stringify(body));
}

/** What a response must give back. */
interface ChargeDue {
  /** Units reserved beyond what was done. */
  readonly rest: number;
  /** Units of a request that costs nothing: Tollgate failed, or the catalogue exempts the response. */
  readonly free: number;
  readonly isExempt: boolean;
}

/**
 * What a response owes, if anything. Each request owes at most once. One whose client left owes only what it did not use, because its work
 * may have been done.
 */
function chargeDue(request: FastifyRequest, reply: FastifyReply, { catalogue }: AppTools): ChargeDue | undefined {
  const { settled, clientLeft, proof, owesRefund, isRefused, cost } = stateOf(request);
  if (settled || !proof) return undefined;
  const { units = 1 } = proof;
  const exemptions = catalogue.find(proof.product)?.uncharged;
  const isExemptAnswer = exemptions !== undefined && isExempt(exemptions, { route: routeOf(request), status: reply.statusCode });
  const isFree = !clientLeft && (owesRefund || isExemptAnswer);
  const used = isFree || isRefused ? 1 : Math.min(units, Math.max(1, cost ?? units));
  const due = { rest: units - used, free: isFree ? 1 : 0, isExempt: !owesRefund };
  return due.rest + due.free > 0 ? due : undefined;
}

async function settleCharge(request: FastifyRequest, tools: AppTools, { rest, free, isExempt }: ChargeDue): Promise<void> {
  const state = stateOf(request);
  // Set before sending, because an error while sending runs the hook again.
  state.settled = { givenBack: 0, isCapped: false };
  const { refund, log, metrics, service } = tools;
  const { proof } = state;
  if (!refund || !proof) return;
  const common = { refund, log, metrics, service: service.name };
  const [ofRest, ofFree] = await Promise.all([
    rest > 0 ? giveUnitBack(proof, { ...common, units: rest, isRest: true }) : 'kept',
    free > 0 ? giveUnitBack(proof, { ...common, units: free, isExempt }) : 'kept',
  ]);
  const givenBack = (ofRest === 'given-back' ? rest : 0) + (ofFree === 'given-back' ? free : 0);
  state.settled = { givenBack, isCapped: ofFree === 'capped' };
}

function setHeaders(request: FastifyRequest, reply: FastifyReply, clock: Clock): void {
  const state = stateOf(request);
  reply.header('X-Content-Type-Options', 'nosniff');
  if (!reply.hasHeader('cache-control')) reply.header('Cache-Control', 'no-store');
  if (state.proof) reply.headers(accessHeaders(state.proof, state.settled, clock.now()));
}

/** The route's own path and never the caller's, because metrics need few labels. */
function routeOf(request: FastifyRequest): string {
  return request.is404 ? 'unknown' : (request.routeOptions.url ?? 'unknown');
}

/** Counts and logs a request once: when its response is sent or its client has left, whichever comes first. */
function record(request: FastifyRequest, reply: FastifyReply, tools: AppTools): void {
  const { service, metrics, accessLog: log, clock } = tools;
  const state = stateOf(request);
  if (state.recorded) return;
  state.recorded = true;
  const { proof, requestId, startedAtMs, clientLeft } = state;
  const status = clientLeft ? CLIENT_CLOSED_REQUEST : reply.statusCode;
  const elapsedMs = clock.monotonic() - startedAtMs;
  metrics.countRequest({ service: service.name, route: routeOf(request), status, mode: proof?.mode ?? 'none' }, elapsedMs / 1000);
  state.span?.setAttributes({ 'http.route': routeOf(request), 'http.response.status_code': status });
  state.span?.end();
  if (!log.isLevelEnabled('info')) return;
  log.info({
    requestId,
    traceId: state.span?.spanContext().traceId,
    method: request.method,
    // An unknown path may hold anything, even a personal number.
    path: request.is404 ? scrubText(pathOf(request.raw.url ?? '').slice(0, 200)) : routeOf(request),
    status,
    durationMs: Math.round(elapsedMs * 10) / 10,
    customer: proof?.customerId,
    product: proof?.product,
    mode: proof?.mode,
  });
}
