import { createServer, IncomingMessage, ServerResponse } from 'node:http';
import { type Socket } from 'node:net';
import { EntranceRoutes, keyPlacesOf, splitRoute, type RouteText } from '../../access-layer/entrance-routes';
import { type PluginModule } from '../../core/access/kong-pdk';
import { type AccessInstance, type Admission, type AccessRefusal } from '../../core/access/verdict';
import { ownNamesOf, type OwnNames } from '../../core/key-places';
import { KEEP_ALIVE_MS } from '../../core/keep-alive';
import { createProof, decideQuestion, type EntranceLog, type EntrancePlace, requestIdOf } from '../../access-layer/gateway-question';
import { refusalOf } from '../../access-layer/held-request';
import { type ReadOn } from '../../core/problems';
import { MAY_HOLD_COPIES } from '../../core/access/credential-location';
import { CONTEXT_HEADER } from '../../core/proof/context-token';
import { TRACE_HEADER } from '../../core/proof/trace-context';
import { findProfile, type GatewayProfile, GENERIC } from './gateway-profiles';
import { readRequest, SECRET_HEADER, type ForwardedRequest } from './read-request';

export interface ForwardAuthOptions extends EntrancePlace {
  readonly plugin: PluginModule<AccessInstance>;
  readonly log: EntranceLog;
}

/** The largest head that nginx (32 KiB), Caddy or HAProxy (16 KiB) accepts, with the headers that they add. */
const MAX_HEAD_BYTES = 49_152;
/** A gateway sends a head in one write. */
const HEAD_TIMEOUT_MS = 5_000;

interface Route {
  readonly id: string;
  readonly text: RouteText;
  readonly profile: GatewayProfile;
  /** The route's own names for the key, such as `header:apikey`. */
  readonly names: OwnNames;
  /** Prefix that is stripped from the path, like Kong's `strip_path`. Empty: none. */
  readonly stripped: string;
}

const ROUTE = /^(?:\/([a-z-]+))?\/authorize\/([\w,-]+)((?:;[a-z_]+=[\w,:-]+|;strip_path=(?:\/[\w.~-]+)+)*)$/;

/**
 * `/authorize/<product>[,<product>…][;key_in=x-api-key]`, or `/nginx/authorize/…`. The gateway's configuration sets it, never the client.
 * It has no query, because some gateways add the client's own.
 */
function parseRoute(url: string): Route | undefined {
  const [, gateway = 'generic', products, settings = ''] = ROUTE.exec(url) ?? [];
  const profile = findProfile(gateway);
  if (products === undefined || !profile) return undefined;
  const { strip_path: stripped = '', ...text } = splitRoute(`${products}${settings}`);
  return { id: url, text, profile, names: ownNamesOf(keyPlacesOf(text)), stripped };
}

/** Strips as Kong does: `/weather/pune` without `/weather` is `/pune`, and `/weather` is `/`. A path that is not below the prefix stays. */
function strip(path: string, prefix: string): string {
  if (path === prefix) return '/';
  return prefix !== '' && path.startsWith(`${prefix}/`) ? path.slice(prefix.length) : path;
}

/** Decides on each request for gateways that ask over HTTP: nginx, Caddy, HAProxy. */
export class ForwardAuthServer {
  private readonly server = createServer({
    maxHeaderSize: MAX_HEAD_BYTES,
    headersTimeout: HEAD_TIMEOUT_MS,
    requestTimeout: HEAD_TIMEOUT_MS,
  });
  private readonly routes: EntranceRoutes;
  private readonly parsed = new Map<string, Route>();
  private readonly isProved: (given: unknown) => boolean;

  constructor(private readonly options: ForwardAuthOptions) {
    this.isProved = createProof(options);
    this.routes = new EntranceRoutes(options.plugin);
    this.server.keepAliveTimeout = KEEP_ALIVE_MS;
    // Only the head's size is limited: headers dropped by Node would be passed on unchecked.
    this.server.maxHeadersCount = 0;
    this.server.on('request', (request, response) => void this.answer(request, response));
    const unparsed = new WeakSet<object>();
    this.server.on('clientError', (error: ParseError, socket) => {
      // Each further piece of a head that could not be read is an error of its own.
      if (unparsed.has(socket)) return;
      unparsed.add(socket);
      answerUnparsed(error, socket as Socket, this.options.plugin.readOn);
    });
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

  /** Accepts no more connections, and ends once running requests have a response, after `graceMs` at the latest. */
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
    if (!this.isProved(request.headers[SECRET_HEADER]) || hasBody(request)) {
      log.warn({}, 'a caller that does not prove to be the gateway, or sends a body, was refused');
      response.writeHead(503, { 'Content-Length': '0', Connection: 'close' }).end();
      return;
    }
    const route = this.routeOf(request.url ?? '');
    const question = readRequest(request, route);
    const verdict = await decideQuestion(question, {
      findInstance: () => this.routes.find(route.id, route.text),
      log,
      readOn: this.options.plugin.readOn,
    });
    if (verdict.admitted && !('fault' in question))
      writeAdmission(response, verdict, { ...question, path: strip(question.path, route.stripped) });
    else if (!verdict.admitted) writeRefusal(response, verdict, { profile: route.profile, requestId: question.requestId });
  }

  /** @throws Error if a request is not a gateway's question */
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

/** Node's error for bytes that it could not parse as a request. */
type ParseError = NodeJS.ErrnoException & { readonly rawPacket?: Buffer };

/**
 * Responds to a question with a header that gateways accept and Node does not, as the caller's mistake: 400 with a problem. Any other error
 * ends the connection. What is still on its way is read and dropped: a gateway that cannot write its question to the end does not read the
 * response, and tells the caller that the gateway failed.
 */
function answerUnparsed(error: ParseError, socket: Socket, readOn: ReadOn | undefined): void {
  const isHead = error.code?.startsWith('HPE_INVALID_HEADER') === true || error.code === 'HPE_HEADER_OVERFLOW';
  if (!isHead || !socket.writable) {
    socket.destroy();
    return;
  }
  const text = error.rawPacket?.toString('latin1') ?? '';
  const [, kind = 'generic'] = /^[A-Z]+ \/([a-z-]+)\/authorize\//.exec(text) ?? [];
  const profile = findProfile(kind) ?? GENERIC;
  const named = profile.namesRequests ? /\r\nx-request-id: *([^\r\n]*)\r\n/i.exec(text)?.[1] : undefined;
  const requestId = requestIdOf(named);
  const giveUp = setTimeout(() => socket.destroy(), HEAD_TIMEOUT_MS).unref();
  socket.on('close', () => clearTimeout(giveUp));
  const response = new ServerResponse(new IncomingMessage(socket));
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on('finish', () => socket.end());
  const detail = 'A header has a character that no header may have, or the headers are too long.';
  writeRefusal(response, refusalOf('request_not_readable', { requestId, detail, readOn }), { profile, requestId });
}

/** JSON in a header: every character beyond ASCII is escaped, which means the same. */
function asHeader(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A 200 with everything that the gateway must copy, by name, into the request to the service. */
function writeAdmission(response: ServerResponse, admission: Admission, request: ForwardedRequest): void {
  const { set, remove, rawQuery, responseHeaders } = admission;
  const authorization = request.headers['authorization'];
  const headers: Record<string, string> = {
    ...responseHeaders,
    // The path and query for the service, without the key.
    'X-Tollgate-Uri': rawQuery === '' ? request.path : `${request.path}?${rawQuery}`,
    'X-Tollgate-Query': rawQuery,
    'X-Tollgate-Request-Id': request.requestId,
    [CONTEXT_HEADER]: set[CONTEXT_HEADER] ?? '',
    'Content-Length': '0',
  };
  // Kept only if it carries something other than the key: the gateway drops the client's own header either way.
  if (typeof authorization === 'string' && !remove.includes('authorization')) headers['X-Tollgate-Authorization'] = authorization;
  const copies = MAY_HOLD_COPIES.filter((name) => remove.includes(name));
  if (copies.length > 0) headers['X-Tollgate-Remove'] = copies.join(' ');
  const trace = set[TRACE_HEADER] ?? request.headers[TRACE_HEADER];
  if (typeof trace === 'string') headers['X-Tollgate-Traceparent'] = trace;
  response.writeHead(200, headers).end();
}

interface Asked {
  readonly profile: GatewayProfile;
  readonly requestId: string;
}

/** The refusal in full, or in headers for a gateway that can pass on nothing else. */
function writeRefusal(response: ServerResponse, refusal: AccessRefusal, { profile, requestId }: Asked): void {
  const { status, headers, body } = refusal;
  // Every gateway lets a request pass on any 2xx.
  if (!profile.refusesInHeaders && status >= 300) {
    response.writeHead(status, { ...headers, 'X-Kong-Request-Id': requestId, 'Content-Length': String(body.length) }).end(body);
    return;
  }
  // Without the body's type and length. The status is 403, because nginx would add a challenge of its own to a 401.
  const { 'Content-Type': _type, ...others } = headers;
  response
    .writeHead(403, {
      ...others,
      'X-Tollgate-Status': String(status),
      'X-Tollgate-Problem': asHeader(body.toString('utf8')),
      'Content-Length': '0',
    })
    .end();
}
