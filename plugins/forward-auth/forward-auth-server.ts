import { createHash, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { askAccess, refusalOf } from '../access-layer/held-request';
import { EntranceRoutes, type RouteText } from '../access-layer/entrance-routes';
import { type PluginModule } from '../core/kong-pdk';
import { findProfile, type GatewayProfile } from './gateway-profiles';
import { readRequest, SECRET_HEADER } from './read-request';
import { writeAdmission, writeRefusal } from './write-answer';

export interface ForwardAuthOptions {
  readonly plugin: PluginModule;
  /** An absolute path: a unix socket, whose permissions are the proof. Otherwise loopback or a private network, and `secret` is. */
  readonly listen: { readonly path: string } | { readonly host: string; readonly port: number };
  /** Shared with the gateway; required on TCP. */
  readonly secret: string | undefined;
  readonly log: { error(fields: object, message: string): void; warn(fields: object, message: string): void };
}

/** The rest of a head that nginx (32 KiB), Caddy or HAProxy (16 KiB) let pass, with what they add. */
const MAX_HEAD_BYTES = 49_152;
/** A gateway sends a head in one write. */
const HEAD_TIMEOUT_MS = 5_000;
/** Longer than gateways keep idle connections (nginx 60 s, Caddy and HAProxy less): the side that asks closes first, and no request is lost. */
const KEEP_ALIVE_MS = 75_000;

interface Route {
  readonly id: string;
  readonly text: RouteText;
  readonly profile: GatewayProfile;
}

const ROUTE = /^(?:\/([a-z-]+))?\/authorize\/([\w,-]+)((?:;[a-z_]+=[\w,-]+)*)$/;

/**
 * `/authorize/<product>[,<product>…][;key_in=x-api-key]`, or `/nginx/authorize/…`: the gateway's configuration, never the client's. No query:
 * some gateways add the client's own.
 */
function parseRoute(url: string): Route | undefined {
  const [, gateway = 'generic', products, settings = ''] = ROUTE.exec(url) ?? [];
  const profile = findProfile(gateway);
  if (products === undefined || !profile) return undefined;
  const pairs = settings.split(';').flatMap((part) => (part === '' ? [] : [part.split('=', 2) as [string, string]]));
  return { id: url, text: { ...Object.fromEntries(pairs), products }, profile };
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Takes as long for a wrong secret as for the right one. */
function createProof(secret: string | undefined): (request: IncomingMessage) => boolean {
  if (secret === undefined) return () => true;
  const expected = digest(secret);
  return ({ headers }) => {
    const given = headers[SECRET_HEADER];
    return timingSafeEqual(expected, digest(typeof given === 'string' ? given : ''));
  };
}

/** Answers gateways that ask over HTTP about each request: nginx, Caddy, Traefik, HAProxy. */
export class ForwardAuthServer {
  private readonly server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: HEAD_TIMEOUT_MS,
    requestTimeout: HEAD_TIMEOUT_MS,
  });
  private readonly routes: EntranceRoutes;
  private readonly parsed = new Map<string, Route>();
  private readonly isProved: (request: IncomingMessage) => boolean;

  constructor(private readonly options: ForwardAuthOptions) {
    const { listen, secret, plugin } = options;
    if (!('path' in listen) && secret === undefined) throw new Error('forward-auth on TCP needs GATEWAY_SECRET');
    this.isProved = createProof('path' in listen ? undefined : secret);
    this.routes = new EntranceRoutes(plugin);
    this.server.keepAliveTimeout = KEEP_ALIVE_MS;
    // Bounded by the bytes of the head alone: headers that Node left out would be headers that nobody judged.
    this.server.maxHeadersCount = 0;
    this.server.on('request', (request, response) => void this.answer(request, response));
  }

  listen(): Promise<void> {
    return new Promise((resolve, reject) => {
      this.server.once('error', reject);
      this.server.listen({ ...this.options.listen, backlog: 4_096 }, () => {
        this.server.off('error', reject);
        resolve();
      });
    });
  }

  /** The port, for a server that was given 0. */
  get port(): number | undefined {
    const address = this.server.address();
    return typeof address === 'object' ? address?.port : undefined;
  }

  /** Takes no more connections and ends when the requests under way are answered, after `graceMs` at the latest. */
  close({ graceMs }: { graceMs: number }): Promise<void> {
    return new Promise((resolve) => {
      const cut = setTimeout(() => this.server.closeAllConnections(), graceMs);
      this.server.close(() => {
        clearTimeout(cut);
        resolve();
      });
      this.server.closeIdleConnections();
    });
  }

  private async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    response.sendDate = false;
    try {
      await this.decide(request, response);
    } catch (err) {
      this.options.log.error({ err }, 'a gateway’s question could not be answered and was refused');
      if (response.headersSent) response.destroy();
      else response.writeHead(503, { 'Content-Length': '0' }).end();
    }
  }

  private async decide(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { log } = this.options;
    if (!this.isProved(request) || hasBody(request)) {
      log.warn({}, 'a caller that does not prove to be the gateway, or sends a body, was refused');
      response.writeHead(503, { 'Content-Length': '0', Connection: 'close' }).end();
      return;
    }
    const route = this.routeOf(request.url ?? '');
    const held = readRequest(request, route.profile);
    const asked = { profile: route.profile, requestId: held.requestId };
    if ('fault' in held) {
      if (held.fault === 'gateway') log.error({ route: route.id, why: held.why }, 'the gateway’s configuration is not complete');
      const isClients = held.fault === 'client';
      const code = isClients ? 'request_not_readable' : 'access_layer_unavailable';
      writeRefusal(response, refusalOf(code, { requestId: held.requestId, ...(isClients ? { detail: held.why } : {}) }), asked);
      return;
    }
    const instance = this.routes.find(route.id, route.text);
    const onError = (err: unknown): void =>
      log.error({ err, requestId: held.requestId }, 'the request could not be decided and was refused');
    const verdict = await askAccess(instance, held, onError);
    if (verdict.admitted) writeAdmission(response, verdict, held);
    else writeRefusal(response, verdict, asked);
  }

  /** @throws Error for what is no question of a gateway */
  private routeOf(url: string): Route {
    const known = this.parsed.get(url);
    if (known) return known;
    const route = parseRoute(url);
    if (!route) throw new Error('a gateway asks for /authorize/<product>, or for /<gateway>/authorize/<product> by a name that is known');
    if (this.parsed.size < 1_024) this.parsed.set(url, route);
    return route;
  }
}

const hasBody = ({ headers }: IncomingMessage): boolean =>
  headers['transfer-encoding'] !== undefined || (headers['content-length'] ?? '0') !== '0';
