import { randomBytes } from 'node:crypto';
import { type RequestHeaders } from '../core/access/credential-location';
import { isPreflight } from '../core/access/cross-origin';
import { type KongPdk } from '../core/access/kong-pdk';
import { readRequestVariable, REQUEST_VARIABLE, splitTarget, type RequestFacts } from '../core/access/request-variable';

/** Kong's maximum for `get_headers`. */
const KONG_MAX_HEADERS = 1000;

/** Reads what the access layer needs to know of a request, in one exchange with Kong. */
export class RequestReader {
  /** Kong's configuration is the same for the life of a plugin instance. */
  private hasVariable = true;

  /** @param own headers of the key on this route, which the variable does not hold */
  constructor(private readonly own: readonly string[] = []) {}

  /**
   * If kong.conf sets the variable, it holds everything. If it does not, or cannot describe this request, six reads start together and travel
   * in one write.
   */
  async read(kong: KongPdk): Promise<RequestFacts> {
    if (this.hasVariable) {
      const facts = this.own.length === 0 ? readVariable(await kong.nginx.getVar(REQUEST_VARIABLE)) : await this.readWithOwn(kong);
      if (typeof facts === 'object') return isPreflight(facts.method, facts.headers) ? withRequestedHeaders(kong, facts) : facts;
      if (facts === 'absent') this.hasVariable = false;
    }
    return readByCalls(kong);
  }

  /** All reads travel in one write. */
  private async readWithOwn(kong: KongPdk): Promise<ReturnType<typeof readVariable>> {
    const names = this.own.map((name) => `http_${name.replaceAll('-', '_')}`);
    const [text, ...values] = await Promise.all([REQUEST_VARIABLE, ...names].map((name) => kong.nginx.getVar(name)));
    const facts = readVariable(text);
    if (typeof facts !== 'object') return facts;
    const headers: Record<string, RequestHeaders[string]> = { ...facts.headers };
    for (const [index, value] of values.entries()) {
      if (typeof value !== 'string' || value === '') continue;
      // So nginx writes a repeated header.
      if (value.includes(', ')) return 'unclear';
      headers[this.own[index] ?? ''] = value;
    }
    return { ...facts, headers };
  }
}

const readVariable = (text: unknown): ReturnType<typeof readRequestVariable> => readRequestVariable(typeof text === 'string' ? text : '');

/** A preflight names the headers that the page wants to send. They are not in the variable, because no other request has them. */
async function withRequestedHeaders(kong: KongPdk, facts: RequestFacts): Promise<RequestFacts> {
  const requested = await kong.nginx.getVar('http_access_control_request_headers');
  return { ...facts, headers: { ...facts.headers, 'access-control-request-headers': typeof requested === 'string' ? requested : '' } };
}

async function readByCalls(kong: KongPdk): Promise<RequestFacts> {
  const [headers, rawQuery, callerAddress, requestId, method, target] = await Promise.all([
    kong.request.getHeaders(KONG_MAX_HEADERS),
    kong.request.getRawQuery(),
    kong.client.getForwardedIp(),
    kong.nginx.getVar('kong_request_id'),
    kong.nginx.getVar('request_method'),
    kong.nginx.getVar('request_uri'),
  ]);
  return {
    callerAddress,
    requestId: typeof requestId === 'string' && requestId !== '' ? requestId : randomBytes(16).toString('hex'),
    rawQuery: rawQuery ?? '',
    rawPath: splitTarget(typeof target === 'string' ? target : '').rawPath,
    method: typeof method === 'string' ? method : '',
    headers: (headers ?? {}) as RequestHeaders,
  };
}
