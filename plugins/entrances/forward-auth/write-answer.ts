import { type ServerResponse } from 'node:http';
import { type Admission, type Refusal } from '../../core/access/verdict';
import { MAY_HOLD_COPIES } from '../../core/access/credential-location';
import { CONTEXT_HEADER } from '../../core/proof/context-token';
import { TRACE_HEADER } from '../../core/proof/trace-context';
import { type GatewayProfile } from './gateway-profiles';
import { type ForwardedRequest } from './read-request';

/** JSON in a header: every character beyond ASCII is escaped, which means the same. */
function asHeader(json: string): string {
  return json.replace(/[^\x20-\x7e]/g, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A 200 with everything that the gateway must copy, by name, into the request to the service. */
export function writeAdmission(response: ServerResponse, admission: Admission, request: ForwardedRequest): void {
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
export function writeRefusal(response: ServerResponse, refusal: Refusal, { profile, requestId }: Asked): void {
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
