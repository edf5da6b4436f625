import { Agent, type Dispatcher } from 'undici';
import { type Log } from '../../../kit/log';
import { within } from '../../../kit/deadline';
import { isTimeout } from '../../../kit/errors';
import { joinHeaders } from '../../../kit/join-headers';
import { readStart } from '../../../kit/upstream/read-capped';
import { type TryAnswer } from '../../contract/try';
import { type GatewayCall, type GatewayPort } from '../../http/dashboard-deps';
import { Refusal } from '../../http/refusal';

export interface GatewayCallerOptions {
  /** Base URL, without a slash at the end. */
  readonly url: string;
  readonly log: Log;
  /** Milliseconds from the request to the last byte. Default 60 s: the slowest routes take half of it. */
  readonly timeoutMs?: number;
  /** Maximum calls of one caller at a time. Default 4: a page makes one call at a time, and several pages may be open. */
  readonly mostOfOne?: number;
  /** Maximum calls of all callers at a time. Default 32: with their responses in base64 they take at most 200 MiB of memory. */
  readonly mostAtOnce?: number;
}

const TIMEOUT_MS = 60_000;
const MAX_BYTES = 2 * 1024 * 1024;
const MAX_OF_ONE = 4;
const MAX_AT_ONCE = 32;

const SHOWN_HEADERS = [
  'content-type',
  'content-length',
  'content-disposition',
  'content-range',
  'location',
  'cache-control',
  'allow',
  'x-kong-request-id',
  'ratelimit',
  'ratelimit-policy',
  'retry-after',
  'www-authenticate',
  'x-tollgate-charged',
  'x-tollgate-refund',
];
const TEXT_TYPE = /^(text\/|application\/([\w.+-]*\+)?(json|xml)\b)/i;

async function describeResponse(response: Dispatcher.ResponseData): Promise<Omit<TryAnswer & { outcome: 'answered' }, 'durationMs'>> {
  const { bytes, isCut } = await readStart(response.body, MAX_BYTES);
  const all = joinHeaders(response.headers);
  const encoding = TEXT_TYPE.test(all['content-type'] ?? '') ? 'text' : 'base64';
  const headers = Object.fromEntries(SHOWN_HEADERS.flatMap((name) => (all[name] === undefined ? [] : [[name, all[name]]])));
  const body = bytes.toString(encoding === 'text' ? 'utf8' : 'base64');
  const requestId = all['x-kong-request-id'] ?? null;
  return { outcome: 'answered', status: response.statusCode, headers, body, encoding, isCut, requestId };
}

/** Calls the gateway as any client would, over its own connections, and calls nothing else. Close it with the process. */
export class GatewayCaller implements GatewayPort {
  private readonly agent: Agent;
  private readonly underWay = new Map<string, number>();

  constructor(private readonly options: GatewayCallerOptions) {
    this.agent = new Agent({ connections: options.mostAtOnce ?? MAX_AT_ONCE });
  }

  /**
   * Never follows a redirect, and sends the key to the gateway only.
   * @param caller a customer, or another name that distinguishes callers
   * @throws Refusal 429 `too_many_attempts` while too many calls of this caller, or of all together, are under way
   */
  async call(caller: string, request: GatewayCall): Promise<TryAnswer> {
    const { mostOfOne = MAX_OF_ONE, mostAtOnce = MAX_AT_ONCE } = this.options;
    const own = this.underWay.get(caller) ?? 0;
    const all = [...this.underWay.values()].reduce((sum, count) => sum + count, 0);
    if (own >= mostOfOne || all >= mostAtOnce) {
      throw new Refusal('too_many_attempts', { detail: 'Other calls are still running. Wait for their responses.' });
    }
    this.underWay.set(caller, own + 1);
    try {
      return await this.exchange(request);
    } finally {
      const left = (this.underWay.get(caller) ?? 1) - 1;
      if (left > 0) this.underWay.set(caller, left);
      else this.underWay.delete(caller);
    }
  }

  /** Ends every call. */
  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async exchange(request: GatewayCall): Promise<TryAnswer> {
    const { log, timeoutMs = TIMEOUT_MS } = this.options;
    const start = performance.now();
    const durationMs = (): number => Math.round(performance.now() - start);
    try {
      const answer = await within(timeoutMs, async (signal) => describeResponse(await this.send(request, signal)));
      return { ...answer, durationMs: durationMs() };
    } catch (error) {
      const reason = isTimeout(error) ? 'timeout' : 'unreachable';
      log.warn({ err: error, reason }, 'the gateway did not answer a call of the reference page');
      return { outcome: 'failed', reason, durationMs: durationMs() };
    }
  }

  private send(
    { key, method, path, query, headers = {}, contentType, body }: GatewayCall,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const url = new URL(this.options.url + path);
    url.search = query;
    return this.agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method,
      headers: {
        accept: '*/*',
        ...Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
        'x-api-key': key,
        'user-agent': 'tollgate-dashboard',
        ...(contentType !== undefined && { 'content-type': contentType }),
      },
      body: body ?? null,
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    });
  }
}
