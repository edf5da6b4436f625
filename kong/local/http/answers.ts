import { STATUS_CODES, type ServerResponse } from 'node:http';
import { type ErrorPage, type ErrorPages } from './error-pages';
import { type HttpExchange } from './http-exchange';
import { randomId } from './random-ids';

export const KONG_VERSION = 'kong/3.9.3';

/** nginx's reason phrases that differ from Node's. */
const REASONS: Record<number, string> = {
  302: 'Moved Temporarily',
  405: 'Not Allowed',
  408: 'Request Time-out',
  413: 'Request Entity Too Large',
  414: 'Request-URI Too Large',
  416: 'Requested Range Not Satisfiable',
  503: 'Service Temporarily Unavailable',
  504: 'Gateway Time-out',
};

/** An unread body is read and discarded up to this size. Beyond it the connection ends instead. */
const MAX_DISCARDED_BYTES = 1024 * 1024;
/** nginx's `lingering_timeout`: how long a closing connection keeps reading, so that the client receives the response. */
const LINGER_MS = 5000;

/** The response of a plugin that ends the request. */
export interface PluginExit {
  status: number;
  body: Buffer | undefined;
  headers: [string, string[]][];
}

/** Times of the attempt to reach the service, in milliseconds. */
export interface Latencies {
  upstreamMs: number;
  proxyMs: number;
}

/** Writes the gateway's own responses, with headers in Kong's order. */
export class GatewayAnswers {
  constructor(
    private readonly pages: ErrorPages,
    /** Lower-cased names from kong.conf `headers`. */
    private readonly enabled: ReadonlySet<string>,
  ) {}

  /** An error that Kong itself raises: no route, plugin failure. */
  kongError(exchange: HttpExchange, status: number, message: string): void {
    const page = this.pages.fromKong(message, audienceOf(exchange));
    this.write(exchange, { status, contentType: page.contentType, headers: [], body: Buffer.from(page.body) });
  }

  /** An error that nginx raises. `latencies` are given if a service was called. 494 is sent as 400. */
  nginxError(exchange: HttpExchange, status: number, latencies?: Latencies): void {
    const page = this.pages.fromNginx(status, audienceOf(exchange));
    this.write(exchange, {
      status: status === 494 ? 400 : status,
      contentType: page.contentType,
      headers: [],
      body: Buffer.from(page.body),
      latencies,
      hasLengthFirst: page.isNginxOwn,
    });
  }

  /** A plugin's response. */
  exit(exchange: HttpExchange, exit: PluginExit): void {
    const headers: string[] = [];
    let contentType: string | undefined;
    for (const [name, values] of exit.headers) {
      const lower = name.toLowerCase();
      if (lower === 'content-type') contentType = values[0];
      else if (!FRAMING.has(lower)) for (const value of values) headers.push(name, value);
    }
    this.write(exchange, { status: exit.status, contentType, headers, body: exit.body ?? Buffer.alloc(0) });
  }

  /** The bytes of a response to input that never became a request. */
  refusal(status: number, startedAt: number): string {
    const requestId = randomId();
    const page: ErrorPage = this.pages.fromNginx(status, { accept: undefined, contentType: undefined, requestId });
    const head = [
      'Date',
      httpDate(),
      'Content-Type',
      page.contentType,
      'Connection',
      'close',
      'Content-Length',
      String(Buffer.byteLength(page.body)),
    ];
    this.addKongHeaders(head, { id: requestId, startedAt });
    const lines = [`HTTP/1.1 ${String(status === 494 ? 400 : status)} ${reasonOf(status === 494 ? 400 : status)}`];
    for (let i = 0; i < head.length; i += 2) lines.push(`${head[i] ?? ''}: ${head[i + 1] ?? ''}`);
    return `${lines.join('\r\n')}\r\n\r\n${page.body}`;
  }

  /** Adds Kong's headers to a service's response, after the service's own. */
  addProxiedHeaders(
    head: string[],
    parts: { id: string; latencies: Latencies; hasServer: boolean; upstreamVia: string | undefined },
  ): void {
    if (!parts.hasServer && this.enabled.has('server')) head.push('Server', KONG_VERSION);
    this.addLatencies(head, parts.latencies);
    if (this.enabled.has('via')) head.push('Via', `${parts.upstreamVia === undefined ? '' : `${parts.upstreamVia}, `}1.1 ${KONG_VERSION}`);
    if (this.enabled.has('x-kong-request-id')) head.push('X-Kong-Request-Id', parts.id);
  }

  private write(exchange: HttpExchange, answer: OwnAnswer): void {
    const { response } = exchange;
    if (response.headersSent || response.destroyed) {
      response.destroy();
      return;
    }
    const head = ['Date', httpDate()];
    if (answer.contentType !== undefined) head.push('Content-Type', answer.contentType);
    const length = ['Content-Length', String(answer.body.length)];
    if (answer.hasLengthFirst === true) head.push(...length);
    head.push('Connection', keepsConnection(exchange) ? 'keep-alive' : 'close');
    if (exchange.hasResponseHeaders) {
      exchange.responseHeaders.forEach((lower, value, name) => {
        if (!FRAMING.has(lower) && lower !== 'content-type') head.push(name, value);
      });
    }
    head.push(...answer.headers);
    if (answer.hasLengthFirst !== true) head.push(...length);
    if (answer.latencies === undefined) this.addKongHeaders(head, exchange);
    else {
      this.addLatencies(head, answer.latencies);
      if (this.enabled.has('via')) head.push('Via', `1.1 ${KONG_VERSION}`);
      this.addIdentity(head, exchange.id);
    }
    response.writeHead(answer.status, reasonOf(answer.status), head);
    exchange.answerBytes = answer.body.length;
    response.end(answer.body);
  }

  private addKongHeaders(head: string[], exchange: { id: string; startedAt: number }): void {
    if (this.enabled.has('x-kong-response-latency')) head.push('X-Kong-Response-Latency', String(Date.now() - exchange.startedAt));
    this.addIdentity(head, exchange.id);
  }

  private addIdentity(head: string[], id: string): void {
    if (this.enabled.has('server')) head.push('Server', KONG_VERSION);
    if (this.enabled.has('x-kong-request-id')) head.push('X-Kong-Request-Id', id);
  }

  private addLatencies(head: string[], latencies: Latencies): void {
    if (this.enabled.has('x-kong-upstream-latency')) head.push('X-Kong-Upstream-Latency', String(latencies.upstreamMs));
    if (this.enabled.has('x-kong-proxy-latency')) head.push('X-Kong-Proxy-Latency', String(latencies.proxyMs));
  }
}

interface OwnAnswer {
  status: number;
  contentType: string | undefined;
  headers: string[];
  body: Buffer;
  latencies?: Latencies | undefined;
  hasLengthFirst?: boolean | undefined;
}

const FRAMING = new Set(['content-length', 'transfer-encoding', 'connection']);

function audienceOf(exchange: HttpExchange): { accept: string | undefined; contentType: string | undefined; requestId: string } {
  return { accept: exchange.headers.joined('accept'), contentType: exchange.headers.get('content-type'), requestId: exchange.id };
}

function reasonOf(status: number): string {
  return REASONS[status] ?? STATUS_CODES[status] ?? 'Unknown';
}

/** Whether the client's connection survives this response. If it ends because of an unread body, makes sure that the response arrives. */
export function keepsConnection(exchange: HttpExchange): boolean {
  const { response, body } = exchange;
  if (!response.shouldKeepAlive) return false;
  if (!body.isUnread) return true;
  if (!exchange.awaitsContinue && (body.declaredBytes ?? Infinity) <= MAX_DISCARDED_BYTES) return true;
  lingerAfter(response);
  return false;
}

/**
 * Closing a socket with unread bytes resets it, and the reset can overtake the response. So our half is closed, and reading continues for a
 * while.
 */
function lingerAfter(response: ServerResponse): void {
  const socket = response.socket;
  if (socket === null) return;
  socket.destroySoon = () => {
    socket.end();
    const timer = setTimeout(() => socket.destroy(), LINGER_MS);
    socket.once('close', () => clearTimeout(timer));
  };
}

let dateText = '';
let dateSecond = 0;

/** Formatted once a second, because formatting costs more than the rest of a response head. */
function httpDate(): string {
  const now = Date.now();
  const second = Math.floor(now / 1000);
  if (second !== dateSecond) {
    dateSecond = second;
    dateText = new Date(now).toUTCString();
  }
  return dateText;
}
