import { type IncomingMessage, type ServerResponse } from 'node:http';
import { type AuthenticatedClient } from '../../../plugins/server/wire/pdk-messages';
import { HeaderList, parseTokens } from './header-list';
import { randomId } from './random-ids';
import { RequestBody, type BodyLimits } from './request-body';
import { plainAddress, type CallerAddress, type TrustedProxies } from './trusted-proxies';
import { normalizePath, splitTarget } from './uri';

/** Changes that plugins make to the request for the service. */
export interface UpstreamChanges {
  query: string | undefined;
  host: string | undefined;
  body: Buffer | undefined;
  /** Replaces the service's address. */
  target: { host: string; port: number } | undefined;
  /** Undefined: the service's scheme. */
  scheme: string | undefined;
}

export interface HttpExchangeParts {
  request: IncomingMessage;
  response: ServerResponse;
  proxies: TrustedProxies;
  limits: BodyLimits;
  /** nginx's `underscores_in_headers`; on unless given. */
  underscoresInHeaders?: boolean | undefined;
}

/** One request on its way through the gateway: what the client sent, what the plugins changed, and its destination. */
export class HttpExchange {
  readonly startedAt = Date.now();
  /** `X-Kong-Request-Id`. */
  readonly id = randomId();
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly method: string;
  readonly headers: HeaderList;
  readonly rawPath: string;
  readonly rawQuery: string;
  readonly hasQuery: boolean;
  readonly path: string;
  readonly peer: CallerAddress;
  readonly caller: CallerAddress;
  /** Whether the peer's forwarding headers are trusted. */
  readonly peerIsTrusted: boolean;
  /** Host without port, lower-cased: nginx's `$host`. */
  readonly host: string;
  readonly body: RequestBody;
  readonly upstream: UpstreamChanges = {
    query: undefined,
    host: undefined,
    body: undefined,
    target: undefined,
    scheme: undefined,
  };
  /** The caller as a plugin named it: Kong's authenticated consumer and credential. */
  client: AuthenticatedClient | undefined;
  /** Name of the service whose route took the request. */
  service: string | undefined;
  /** Whether the service responded, or only the gateway. */
  isFromService = false;
  /** The cost of the response as reported by the service; undefined without such a header. */
  units: string | undefined;
  /** Bytes of the response's body that were sent. */
  answerBytes = 0;
  private resultHeaders: HeaderList | undefined;
  private nginxId: string | undefined;
  private connectionHeaders: ReadonlySet<string> | undefined;
  private continuePending = false;

  constructor(parts: HttpExchangeParts) {
    const { request, response, proxies } = parts;
    this.request = request;
    this.response = response;
    this.method = request.method ?? 'GET';
    this.headers = HeaderList.fromRaw(request.rawHeaders, parts.underscoresInHeaders);
    const authority = splitAbsolute(request.url ?? '/');
    const target = splitTarget(authority.target);
    this.rawPath = target.path;
    this.rawQuery = target.query;
    this.hasQuery = target.hasQuery;
    this.path = normalizePath(target.path);
    this.host = hostOf(authority.host ?? this.headers.get('host') ?? '');
    this.peer = { ip: plainAddress(request.socket.remoteAddress), port: request.socket.remotePort ?? 0 };
    this.peerIsTrusted = proxies.isTrusted(this.peer.ip);
    this.caller = this.peerIsTrusted ? proxies.callerOf(this.peer, this.headers.joined(proxies.headerName)) : this.peer;
    this.body = new RequestBody(request, parts.limits, () => this.sendContinue());
  }

  /** Lower-cased headers of the client that belong to its connection only: those that its `Connection` names (RFC 9110, 7.6.1). */
  get hopByHop(): ReadonlySet<string> {
    return (this.connectionHeaders ??= namedByConnection(this.headers.joined('connection')));
  }

  /** A header that a plugin set is for the service, whatever the client's `Connection` says. */
  keepForService(lowerName: string): void {
    if (this.hopByHop.size > 0) this.connectionHeaders = new Set([...this.hopByHop].filter((name) => name !== lowerName));
  }

  get httpVersion(): 1 | 1.1 {
    return this.request.httpVersionMinor === 0 ? 1 : 1.1;
  }

  /** The port that the client connected to. */
  get port(): number {
    return this.request.socket.localPort ?? 0;
  }

  /** Request line and headers, as nginx counts them in `$request_length` before a body. */
  get headBytes(): number {
    let bytes = `${this.method} ${this.request.url ?? '/'} HTTP/1.1\r\n\r\n`.length;
    for (const text of this.request.rawHeaders) bytes += text.length + 2;
    return bytes;
  }

  /** nginx's own `$request_id`, which is not the id that Kong sends to the client. */
  get nginxRequestId(): string {
    return (this.nginxId ??= randomId());
  }

  /** Headers that a plugin set for the response, whichever side sends it. */
  get responseHeaders(): HeaderList {
    return (this.resultHeaders ??= new HeaderList());
  }

  get hasResponseHeaders(): boolean {
    return this.resultHeaders !== undefined;
  }

  /** Notes that the client waits for `100 Continue` before it sends its body. */
  expectContinue(): void {
    this.continuePending = true;
  }

  get awaitsContinue(): boolean {
    return this.continuePending;
  }

  private sendContinue(): void {
    if (!this.continuePending) return;
    this.continuePending = false;
    this.response.writeContinue();
  }
}

const NO_NAMES: ReadonlySet<string> = new Set();

function namedByConnection(value: string | undefined): ReadonlySet<string> {
  return value === undefined || value === 'close' || value === 'keep-alive' ? NO_NAMES : new Set(parseTokens(value));
}

/** `GET http://host/path` names its host itself. Every other form is a path. */
function splitAbsolute(url: string): { target: string; host?: string } {
  if (url.startsWith('/')) return { target: url };
  const match = /^https?:\/\/([^/?#]+)([^#]*)/i.exec(url);
  if (match?.[1] === undefined) return { target: url };
  const rest = match[2] ?? '';
  return { target: rest.startsWith('/') ? rest : `/${rest}`, host: match[1] };
}

function hostOf(authority: string): string {
  const lower = authority.toLowerCase();
  if (lower.startsWith('[')) return lower.slice(0, lower.indexOf(']') + 1);
  const colon = lower.indexOf(':');
  return colon < 0 ? lower : lower.slice(0, colon);
}
