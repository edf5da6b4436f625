import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Duplex } from 'node:stream';
import { startActiveChecks } from './upstream/active-checks';
import { Answers, type Latencies } from './http/answers';
import { Balancer, type TargetAddress } from './upstream/balancer';
import { type PluginBinding, type Route, type Service } from './config/kong-yml';
import { ErrorPages } from './http/error-pages';
import { type EventOutcome } from './plugin/event-run';
import { HttpExchange } from './http/http-exchange';
import { type KongConf } from './config/kong-conf';
import { type Log } from './log';
import { type PluginClient } from './plugin/plugin-client';
import { ProxyRun } from './upstream/proxy-run';
import { type BodyError, type BodyLimits } from './http/request-body';
import { removeFromRequest } from './plugin/remove-from-request';
import { refusedStatus } from './http/request-limits';
import { Router, type RouteMatch } from './router';
import { TrustedProxies } from './http/trusted-proxies';
import { joinSockets } from './upstream/upgrade';
import { type AnswerTeller } from './http/tell-answer';
import { isWebSocket } from './upstream/upstream-request';

export interface DispatcherParts {
  conf: KongConf;
  routes: readonly Route[];
  limits: BodyLimits;
  pluginClient: PluginClient;
  /** Absent: answers are not reported. */
  answerTeller?: AnswerTeller | undefined;
  log: Log;
}

/** How the request came in, when not plainly. */
export interface Arrival {
  /** The client waits for `100 Continue`. */
  expectsContinue?: boolean;
  /** The request has an Upgrade header: its socket is no longer in Node's hands. */
  tunnel?: { client: Duplex; early: Buffer };
}

/** The phases of a request, in Kong's order: limits, route, plugins, service. */
export class Dispatcher {
  private router: Router;
  private readonly proxies: TrustedProxies;
  private readonly answers: Answers;
  /** By upstream, or by service where that has an address of its own, and by all that was said of it. */
  private readonly balancers = new Map<string, CheckedBalancer>();
  private readonly tunnels = new Set<() => void>();
  private draining = false;

  constructor(private readonly parts: DispatcherParts) {
    const { conf } = parts;
    this.router = new Router(parts.routes);
    this.proxies = new TrustedProxies(conf.realIp);
    this.answers = new Answers(new ErrorPages(conf.errorTemplates, conf.errorDefaultType), conf.responseHeaders);
    // Made at once: an upstream is checked before the first request comes.
    for (const { service } of parts.routes) this.balancerOf(service);
  }

  handle(request: IncomingMessage, response: ServerResponse, arrival: Arrival = {}): HttpExchange {
    const { limits, conf } = this.parts;
    const { underscoresInHeaders } = conf;
    const exchange = new HttpExchange({ request, response, proxies: this.proxies, limits, underscoresInHeaders });
    // A write that races with the client's leaving; the close that follows is what is acted on.
    response.on('error', () => undefined);
    response.once('close', () => this.record(exchange));
    if (this.draining) response.shouldKeepAlive = false;
    if (arrival.expectsContinue === true) exchange.expectContinue();
    const refused = refusedStatus(exchange) ?? (arrival.tunnel !== undefined && exchange.body.declaredBytes !== 0 ? 400 : undefined);
    if (refused !== undefined) {
      if (refused !== 413) response.shouldKeepAlive = false;
      this.answers.nginxError(exchange, refused);
      return exchange;
    }
    const match = this.router.match(exchange.method, exchange.path);
    if (match === undefined) {
      this.answers.kongError(exchange, 404, 'no Route matched with those values');
      return exchange;
    }
    exchange.match = match;
    this.runPlugins(exchange, { match, arrival, next: 0 });
    return exchange;
  }

  /** One line a request, as Kong's access log; without the path, in which anything may stand. */
  private record(exchange: HttpExchange): void {
    this.parts.answerTeller?.tell(exchange);
    const { id, method, match, response, startedAt } = exchange;
    const seconds = (Date.now() - startedAt) / 1000;
    this.parts.log('info', 'request', { requestId: id, method, service: match?.route.service.name, status: response.statusCode, seconds });
  }

  /** From here on requests take these routes; those under way end on the ones that they took. */
  use(routes: readonly Route[]): void {
    this.router = new Router(routes);
    for (const { service } of routes) this.balancerOf(service);
    const wanted = new Set(routes.map(({ service }) => balancerKeyOf(service)));
    for (const [key, { balancer, check }] of this.balancers) {
      if (wanted.has(key)) continue;
      check?.stop();
      balancer.retire();
      this.balancers.delete(key);
    }
  }

  /** The bytes of an answer to what Node could not parse. */
  refusal(status: number): string {
    return this.answers.refusal(status, Date.now());
  }

  /** From here on every answer closes its connection. */
  drain(): void {
    this.draining = true;
  }

  close(): void {
    for (const cut of this.tunnels) cut();
    this.parts.answerTeller?.close();
    for (const { balancer, check } of this.balancers.values()) {
      check?.stop();
      balancer.close();
    }
  }

  /** One plugin after the other; the last `proceed` is the only way to the service. */
  private runPlugins(exchange: HttpExchange, pass: Pass): void {
    const binding: PluginBinding | undefined = pass.match.route.plugins[pass.next];
    if (binding === undefined) {
      this.readChunkedBody(exchange, pass);
      return;
    }
    if (binding.removes) {
      removeFromRequest(exchange, binding.removes);
      this.runPlugins(exchange, { ...pass, next: pass.next + 1 });
      return;
    }
    this.parts.pluginClient.access(binding, exchange, (outcome) => {
      if (outcome.kind === 'proceed') this.runPlugins(exchange, { ...pass, next: pass.next + 1 });
      else this.refuse(exchange, outcome);
    });
  }

  private refuse(exchange: HttpExchange, outcome: Exclude<EventOutcome, { kind: 'proceed' }>): void {
    switch (outcome.kind) {
      case 'exit':
        this.answers.exit(exchange, outcome.exit);
        break;
      case 'body':
        this.bodyFailed(exchange, outcome.error);
        break;
      case 'failed':
        this.answers.kongError(exchange, 500, 'An unexpected error occurred');
    }
    exchange.body.abandon();
  }

  /** Kong reads a body of unknown length whole, because the service gets a Content-Length; a declared one streams through. */
  private readChunkedBody(exchange: HttpExchange, pass: Pass): void {
    if (!exchange.body.isChunked) {
      this.proxy(exchange, pass);
      return;
    }
    exchange.body.load((error) => {
      if (error === undefined) this.proxy(exchange, pass);
      else this.bodyFailed(exchange, error);
    });
  }

  private bodyFailed(exchange: HttpExchange, error: BodyError): void {
    // nginx says nothing to a client that stopped sending or left.
    if (error.status === 408 || error.status === 499) exchange.response.destroy();
    else this.answers.nginxError(exchange, error.status, error.status === 400 ? latenciesOf(exchange) : undefined);
    exchange.body.cleanUp();
  }

  private proxy(exchange: HttpExchange, pass: Pass): void {
    const { response } = exchange;
    // The client left while the plugins decided, so the service is not asked.
    if (response.destroyed || exchange.request.socket.destroyed) {
      exchange.body.cleanUp();
      return;
    }
    response.on('close', () => exchange.body.cleanUp());
    const { match } = pass;
    new ProxyRun({
      exchange,
      match,
      balancer: this.balancerFor(exchange, match.route.service),
      answers: this.answers,
      log: this.parts.log,
      onUpgrade: ({ head, connection, latencies }) => {
        const { tunnel } = pass.arrival;
        if (tunnel === undefined || !isWebSocket(exchange)) {
          connection.destroy();
          this.answers.nginxError(exchange, 502);
          return;
        }
        response.detachSocket(exchange.request.socket);
        const idleMs = match.route.service.readTimeoutMs;
        const cut = joinSockets({
          exchange,
          answers: this.answers,
          head,
          connection,
          latencies,
          client: tunnel.client,
          early: tunnel.early,
          idleMs,
        });
        this.tunnels.add(cut);
        tunnel.client.on('close', () => {
          this.tunnels.delete(cut);
          this.parts.answerTeller?.tell(exchange, head.status);
        });
      },
    }).start();
  }

  /** A plugin may send one request elsewhere. */
  private balancerFor({ upstream: { target, scheme } }: HttpExchange, service: Service): Balancer {
    if (target === undefined) return this.balancerOf(service);
    return this.balancerOf({ ...service, ...target, upstream: undefined, tls: scheme === 'http' ? undefined : service.tls });
  }

  private balancerOf(service: Service): Balancer {
    const key = balancerKeyOf(service);
    const known = this.balancers.get(key);
    if (known) return known.balancer;
    const { upstream, connectTimeoutMs } = service;
    const balancer = new Balancer({ targets: targetsOf(service), connectTimeoutMs, healthChecks: upstream?.healthchecks });
    const check = upstream && startActiveChecks(balancer.targets, upstream.healthchecks.active);
    this.balancers.set(key, { balancer, check });
    return balancer;
  }
}

/** Kong has chosen the address by the time it reads a chunked body, and says how long that took. */
function latenciesOf({ startedAt }: HttpExchange): Latencies {
  return { upstreamMs: 0, proxyMs: Date.now() - startedAt };
}

interface CheckedBalancer {
  readonly balancer: Balancer;
  readonly check: { stop(): void } | undefined;
}

/** The same as long as requests go to the same addresses in the same way. */
function balancerKeyOf(service: Service): string {
  const { name, upstream, connectTimeoutMs } = service;
  return JSON.stringify([upstream ? `upstream ${upstream.name}` : `service ${name}`, connectTimeoutMs, targetsOf(service), upstream]);
}

/** Kong's port for a target that names none. */
const TARGET_PORT = 8000;

function targetsOf({ host, port, upstream, tls }: Service): TargetAddress[] {
  if (!upstream) return [{ host, port, tls, weight: 1 }];
  return upstream.targets.map(({ target, weight }) => {
    const [, name = '', ownPort] = /^(.*?)(?::(\d+))?$/.exec(target) ?? [];
    return { host: name.replace(/^\[(.*)\]$/, '$1'), port: Number(ownPort ?? TARGET_PORT), tls, weight };
  });
}

/** Where a request is on its way through the plugins. */
interface Pass {
  match: RouteMatch;
  arrival: Arrival;
  next: number;
}
