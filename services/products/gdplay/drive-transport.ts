import { type Readable } from 'node:stream';
import { type KeyMode } from '../../../plugins/core/ports';
import { isTimeout, ServiceError } from '../../kit/errors';
import { type Metrics } from '../../kit/metrics';
import { readCapped, ResponseTooLarge } from '../../kit/upstream/read-capped';
import { UpstreamClient, type UpstreamHead } from '../../kit/upstream/upstream-client';
import { baseUrlFor, type UpstreamTarget } from '../../kit/upstream/upstream-target';
import { driveFailure, driveTimeout, fileNotFound } from './drive-failure';

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const MAX_REDIRECTS = 5;
/** The host to which Drive redirects a visitor without an account who requests a private file. */
const LOGIN_HOST = 'accounts.google.com';
/** Bytes of a web page, an error or a file's metadata. */
const MAX_TEXT_BYTES = 1_048_576;

export interface DriveCall {
  readonly mode: KeyMode;
  readonly signal: AbortSignal;
}

export interface DriveRequest extends DriveCall {
  readonly headers?: Readonly<Record<string, string>>;
}

export interface DriveResponse extends UpstreamHead {
  /** Address of the last hop. */
  readonly url: URL;
  /** Read it or destroy it. */
  readonly body: Readable;
}

export interface DriveTransportOptions {
  readonly api: UpstreamTarget;
  readonly web: UpstreamTarget;
  /** Hosts that may be connected to over https, besides the hosts of the targets. */
  readonly hosts: readonly string[];
  readonly timeoutMs: number;
  readonly metrics?: Metrics | undefined;
}

function originOf(url: string | undefined): readonly string[] {
  return url === undefined ? [] : [new URL(url).origin];
}

/** Sends GETs to Drive's hosts and no others: every hop is checked before a connection is made. */
export class DriveTransport {
  private readonly allowed: Readonly<Record<KeyMode, ReadonlySet<string>>>;
  private readonly clients = new Map<string, UpstreamClient>();

  constructor(private readonly options: DriveTransportOptions) {
    const { api, web, hosts } = options;
    const live = [...originOf(api.liveUrl), ...originOf(web.liveUrl), ...hosts.map((host) => `https://${host}`)];
    const test = [...originOf(api.sandboxUrl), ...originOf(web.sandboxUrl)];
    this.allowed = { live: new Set(live), test: new Set(test) };
    for (const origin of new Set([...live, ...test])) this.clients.set(origin, this.clientFor(origin));
  }

  /** The base address without a trailing slash. @throws ServiceError `upstream_not_configured` */
  baseUrl(which: 'api' | 'web', mode: KeyMode): string {
    return baseUrlFor(this.options[which], mode);
  }

  /**
   * The response at the end of the redirects, as far as its headers.
   * @throws ServiceError 404 when Drive asks for a login, 502 with `reason`, 504
   */
  async open(address: string, request: DriveRequest): Promise<DriveResponse> {
    let url = new URL(address);
    for (let hops = 0; hops <= MAX_REDIRECTS; hops++) {
      const response = await this.send(url, request);
      const { location } = response.headers;
      if (!REDIRECTS.has(response.status) || location === undefined) return response;
      response.body.destroy();
      if (!URL.canParse(location, url.href)) throw driveFailure('bad_response');
      url = new URL(location, url);
    }
    throw driveFailure('bad_response', new Error(`more than ${MAX_REDIRECTS} redirects`));
  }

  async close(): Promise<void> {
    await Promise.all([...this.clients.values()].map((client) => client.close()));
  }

  private async send(url: URL, { mode, signal, headers = {} }: DriveRequest): Promise<DriveResponse> {
    if (url.hostname === LOGIN_HOST) throw fileNotFound();
    const client = this.allowed[mode].has(url.origin) ? this.clients.get(url.origin) : undefined;
    if (!client || url.username !== '' || url.password !== '') throw driveFailure('redirect_refused');
    try {
      return { ...(await client.stream({ mode, path: url.pathname + url.search, headers, signal })), url };
    } catch (error) {
      throw explained(error);
    }
  }

  private clientFor(origin: string): UpstreamClient {
    const { timeoutMs, metrics, api } = this.options;
    return new UpstreamClient({
      name: 'google-drive',
      target: { liveUrl: origin, sandboxUrl: origin, liveSetting: api.liveSetting },
      timeoutMs,
      // Ranges count bytes as they are stored.
      headers: { 'accept-encoding': 'identity', 'user-agent': 'tollgate' },
      metrics,
    });
  }
}

/** The kit's failure, with Drive's reason added. */
function explained(error: unknown): unknown {
  if (!(error instanceof ServiceError)) return error;
  if (error.problem === 'upstream_timeout') return driveTimeout(error.cause);
  return error.problem === 'upstream_failed' ? driveFailure('unreachable', error.cause) : error;
}

/**
 * A whole body that is expected to be small.
 * @throws ServiceError 502, 504
 */
export async function readWhole(body: Readable, maxBytes = MAX_TEXT_BYTES): Promise<Buffer> {
  try {
    return await readCapped(body, maxBytes);
  } catch (error) {
    throw error instanceof ResponseTooLarge ? driveFailure('bad_response', error) : brokenBody(error);
  }
}

/** The failure for a body that broke off. */
export function brokenBody(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error;
  return isTimeout(error) ? driveTimeout(error) : driveFailure('unreachable', error);
}
