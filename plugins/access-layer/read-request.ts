import { randomBytes } from 'node:crypto';
import { type RequestHeaders } from '../core/access/credential-location';
import { type KongPdk } from '../core/access/kong-pdk';
import { readRequestVariable, REQUEST_VARIABLE, splitTarget, type RequestFacts } from '../core/access/request-variable';

/** Kong's maximum for `get_headers`. */
const KONG_MAX_HEADERS = 1000;

/** Reads what the access layer needs to know of a request, in one exchange with Kong. */
export class RequestReader {
  /** Kong's configuration is the same for the life of a plugin instance. */
  private hasVariable = true;

  /**
   * If kong.conf sets the variable, it holds everything. If it does not, or cannot describe this request, six reads start together and travel
   * in one write.
   */
  async read(kong: KongPdk): Promise<RequestFacts> {
    if (this.hasVariable) {
      const text = await kong.nginx.getVar(REQUEST_VARIABLE);
      const facts = readRequestVariable(typeof text === 'string' ? text : '');
      if (typeof facts === 'object') return facts;
      if (facts === 'absent') this.hasVariable = false;
    }
    return readByCalls(kong);
  }
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
