import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type Duplex } from 'node:stream';
import { GatewayAnswers, type Latencies } from './http/answers';
import { type PluginBinding, type LocalRoute, type LocalService, type UpstreamAddress } from './config/kong-yml';
import { ErrorPages } from './http/error-pages';
import { type EventOutcome } from './plugin/event-run';
import { HttpExchange } from './http/http-exchange';
import { type KongConf } from './config/kong-conf';
import { type WriteLog } from './log';
import { type PluginClient } from './plugin/plugin-client';
import { ProxyRun } from './upstream/proxy-run';
import { type BodyError, type BodyLimits } from './http/request-body';
import { removeFromRequest } from './config/request-removal';
import { refusedStatus } from './http/request-limits';
import { Router, type RouteMatch } from './config/router';
import { TrustedProxies } from './http/trusted-proxies';
import { joinSockets, type Upgrade } from './upstream/upgrade';
import { UpstreamAgent } from './upstream/upstream-agent';
import { type AnswerTeller } from './http/tell-answer';
import { isWebSocket } from './upstream/upstream-request';

export interface DispatcherParts {
  conf: KongConf;
  routes: readonly LocalRoute[];
  limits: BodyLimits;
  pluginClient: PluginClient;
  /** Absent: responses are not reported. */
  answerTeller?: AnswerTeller | undefined;
  log: WriteLog;
}

/** How the request arrived, if not in the usual way. */
export interface Arrival {
  /** True if the client waits for `100 Continue`. */
  expectsContinue?: boolean;
  /** Set if the request has an Upgrade header. Node then no longer handles its socket. */
  tunnel?: { client: Duplex; early: Buffer };
}

/** The phases of a request, in Kong's order: limits, route, plugins, service. */
export class Dispatcher {
  private router: Router;
  private readonly proxies: TrustedProxies;
  private readonly answers: GatewayAnswers;
  /** Agents by address. */
  private readonly agents = new Map<string, UpstreamAgent>();
  private readonly tunnels = new Set<() => void>();
  private draining = false;

  constructor(private readonly parts: DispatcherParts) {
    const { conf } = parts;
    this.router = new Router(parts.routes);
    this.proxies = new TrustedProxies(conf.realIp);
    this.answers = new GatewayAnswers(new ErrorPages(conf.errorTemplates, conf.errorDefaultType), conf.responseHeaders);
  }

  handle(request: IncomingMessage, response: ServerResponse, arrival: Arrival = {}): HttpExchange {
    const { limits, conf } = this.parts;
    const { underscoresInHeaders } = conf;
    const exchange = new HttpExchange({ request, response, proxies: this.proxies, limits, underscoresInHeaders });
    // A write may race with the client's leaving. The close that follows is handled.
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
    exchange.service = match.route.service.name;
    if (match.route.isGrpc) {
      this.refuseGrpc(exchange);
      return exchange;
    }
    this.runPlugins(exchange, { match, arrival, next: 0 });
    return exchange;
  }

  /** One log line per request, like Kong's access log, but without the path, which may contain anything. */
  private record(exchange: HttpExchange): void {
    this.parts.answerTeller?.tell(exchange);
    const { id, method, service, client, response, startedAt } = exchange;
    const seconds = (Date.now() - startedAt) / 1000;
    this.parts.log('info', 'request', {
      requestId: id,
      method,
      service,
      status: response.statusCode,
      seconds,
      consumer: client?.consumerId,
    });
  }

  /** New requests use these routes. Running requests end on the routes on which they began. */
  use(routes: readonly LocalRoute[]): void {
    this.router = new Router(routes);
    const wanted = new Set(routes.map(({ service }) => agentKeyOf(service)));
    for (const [key, agent] of this.agents) {
      if (wanted.has(key)) continue;
      agent.retire();
      this.agents.delete(key);
    }
  }

  /** The bytes of a response to input that Node could not parse. */
  refusal(status: number): string {
    return this.answers.refusal(status, Date.now());
  }

  /** From here on every response closes its connection. */
  drain(): void {
    this.draining = true;
  }

  close(): void {
    for (const cut of this.tunnels) cut();
    this.parts.answerTeller?.close();
    for (const agent of this.agents.values()) agent.destroy();
  }

  /** Runs the plugins one after another. The last `proceed` is the only way to the service. */
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

  /** Kong's response over HTTP/1.1, the only protocol of this gateway. */
  private refuseGrpc(exchange: HttpExchange): void {
    if (exchange.headers.get('content-type')?.startsWith('application/grpc'))
      this.answers.kongError(exchange, 426, 'Please use HTTP2 protocol');
    else this.answers.kongError(exchange, 415, 'Non-gRPC request matched gRPC route');
    exchange.body.abandon();
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

  /** Kong reads a chunked body completely, because the service gets a Content-Length. A body with a declared length is streamed. */
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
    // nginx sends nothing to a client that stopped sending or left.
    if (error.status === 408 || error.status === 499) exchange.response.destroy();
    else this.answers.nginxError(exchange, error.status, error.status === 400 ? latenciesOf(exchange) : undefined);
    exchange.body.cleanUp();
  }

  private proxy(exchange: HttpExchange, pass: Pass): void {
    const { response } = exchange;
    // The client left while the plugins decided, so the service is not called.
    if (response.destroyed || exchange.request.socket.destroyed) {
      exchange.body.cleanUp();
      return;
    }
    response.on('close', () => exchange.body.cleanUp());
    const { match } = pass;
    const { answers } = this;
    const { conf, log } = this.parts;
    const agent = this.agentFor(exchange, match.route.service);
    const onUpgrade = (upgrade: Upgrade): void => this.join(exchange, pass, upgrade);
    new ProxyRun({ exchange, match, agent, answers, maxHeadBytes: conf.upstreamHeadBytes, log, onUpgrade }).start();
  }

  /** Joins both sockets if a WebSocket was requested. */
  private join(exchange: HttpExchange, { arrival: { tunnel }, match }: Pass, upgrade: Upgrade): void {
    if (tunnel === undefined || !isWebSocket(exchange)) {
      upgrade.upstream.destroy();
      this.answers.nginxError(exchange, 502);
      return;
    }
    exchange.response.detachSocket(exchange.request.socket);
    const idleMs = match.route.service.readTimeoutMs;
    const cut = joinSockets({ ...upgrade, ...tunnel, exchange, answers: this.answers, idleMs });
    this.tunnels.add(cut);
    tunnel.client.on('close', () => {
      this.tunnels.delete(cut);
      this.parts.answerTeller?.tell(exchange, upgrade.incoming.statusCode);
    });
  }

  /** A plugin may send a request to another address. */
  private agentFor({ upstream: { target, scheme } }: HttpExchange, { host, port, tls }: LocalService): UpstreamAgent {
    const address = { host, port, ...target, tls: target !== undefined && scheme === 'http' ? undefined : tls };
    const key = agentKeyOf(address);
    const known = this.agents.get(key);
    if (known) return known;
    const agent = new UpstreamAgent(address);
    this.agents.set(key, agent);
    return agent;
  }
}

/** Kong has chosen the address before it reads a chunked body, and reports how long that took. */
function latenciesOf({ startedAt }: HttpExchange): Latencies {
  return { upstreamMs: 0, proxyMs: Date.now() - startedAt };
}

const agentKeyOf = ({ host, port, tls }: UpstreamAddress): string => JSON.stringify([host, port, tls]);

/** The progress of a request through the plugins. */
interface Pass {
  match: RouteMatch;
  arrival: Arrival;
  next: number;
}
