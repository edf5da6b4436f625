import { LINK_PARAMETER } from '../core/proof/access-link';
import { CONTEXT_HEADER, CONTEXT_LIFETIME_SECONDS, type ContextSigner, type RequestContext } from '../core/proof/context-token';
import { headersToStrip, KEY_PARAMETER, type RequestHeaders, withoutCopies } from '../core/access/credential-location';
import { crossOriginHeaders, preflightHeaders } from '../core/access/cross-origin';
import { type KongPdk } from '../core/access/kong-pdk';
import { problemOf, statusOf } from '../core/problems';
import { rateLimitHeaders, reportQuota, type QuotaReport } from '../core/access/quota';
import { removeParameter } from '../core/access/raw-parameters';
import { TRACE_HEADER } from '../core/proof/trace-context';
import { type AccessRequest, type Denial } from './access-request';

function quotaOf(request: AccessRequest): QuotaReport | null {
  const { spend, subscription } = request;
  return spend && subscription ? reportQuota(spend.standing, subscription.limits) : null;
}

const LOWER_CONTEXT_HEADER = CONTEXT_HEADER.toLowerCase();

/** Kong removes a header that is set to an empty list. */
const REMOVED: string[] = [];

/** Sends the request on to its service: proof in, credentials out. The writes travel together with the end of the event. */
export async function admit(kong: KongPdk, request: AccessRequest, signing: { sign: ContextSigner; nowSeconds: number }): Promise<void> {
  const { record, subscription, spend } = request;
  if (!record || !subscription) throw new Error('a request without a subscription cannot be admitted');
  const quota = quotaOf(request);
  const context: RequestContext = {
    requestId: request.requestId,
    credentialId: record.credentialId,
    customerId: record.customerId,
    subscriptionId: subscription.id,
    product: subscription.product,
    mode: record.mode,
    callerAddress: request.callerAddress,
    chargedDay: spend?.standing.day ?? null,
    ...(request.units === 1 ? {} : { units: request.units }),
    quota,
    ...(request.link && { link: request.link.grant }),
    expiresAt: signing.nowSeconds + CONTEXT_LIFETIME_SECONDS,
  };
  const out = kong.service.request;
  const headers: Record<string, string | string[]> = {};
  for (const name of headersToStrip(request.headers, request.key ?? '')) {
    // The proof replaces what the client sent. Two spellings of one header in a call would leave it to Kong which one wins.
    if (name !== LOWER_CONTEXT_HEADER) headers[name] = REMOVED;
  }
  if (request.trace) headers[TRACE_HEADER] = request.trace.traceparent;
  // Last, so that the message ends with bytes that differ in every request (writeExitArgs in plugins/server says why).
  headers[CONTEXT_HEADER] = signing.sign(context, subscription.proof);
  const writes: Promise<unknown>[] = [out.setHeaders(headers)];
  const query = withoutCopies(removeParameter(request.rawQuery, request.link ? LINK_PARAMETER : KEY_PARAMETER), request.key ?? '');
  if (query !== request.rawQuery) writes.push(out.setRawQuery(query));
  if (request.strippedBody) writes.push(out.setRawBody(request.strippedBody));
  const answer = crossOriginHeaders(record.whitelist, request.headers);
  if (quota && request.config.rateLimitHeaders === 'gateway') Object.assign(answer, rateLimitHeaders(quota, signing.nowSeconds));
  if (Object.keys(answer).length > 0) writes.push(kong.response.setHeaders(answer));
  if (record.mode === 'test' && subscription.sandbox) {
    writes.push(kong.service.setTarget(subscription.sandbox.host, subscription.sandbox.port));
  }
  await Promise.all(writes);
}

/** How to authenticate, for a 401 (RFC 9110, section 11.6.1). */
function challenge(request: AccessRequest): string {
  const headerOnly = request.config.keyIn.size === 1 && request.config.keyIn.has('x-api-key');
  return headerOnly ? 'ApiKey realm="tollgate", header="X-API-Key"' : 'Bearer realm="tollgate"';
}

/** Which pages may read a refusal. Without these headers an inactive key looks like an unknown one. */
function readersOf({ record, headers }: AccessRequest, { code }: Denial): Record<string, string> {
  return record && code !== 'key_unknown' && code !== 'key_inactive' ? crossOriginHeaders(record.whitelist, headers) : {};
}

/** Answers a browser's preflight. No key is read and nothing is charged. The status is 200, as in Kong's own CORS plugin. */
export async function answerPreflight(kong: KongPdk, headers: RequestHeaders): Promise<void> {
  const requested = headers['access-control-request-headers'] ?? (await kong.nginx.getVar('http_access_control_request_headers'));
  await kong.response.exit(200, Buffer.alloc(0), preflightHeaders(requested));
}

/** A store that is away is usually back within a moment. */
const RETRY_SECONDS = '1';

/** Ends the request with a problem; nothing reaches the service. */
export async function refuse(kong: KongPdk, request: AccessRequest, denial: Denial, nowSeconds: number): Promise<void> {
  const status = statusOf(denial.code);
  const headers: Record<string, string> = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' };
  const members: Record<string, unknown> = {};
  const quota = quotaOf(request);
  Object.assign(headers, readersOf(request, denial));
  if (status === 401) headers['WWW-Authenticate'] = challenge(request);
  if (status === 503) headers['Retry-After'] = RETRY_SECONDS;
  if (quota && status === 429) {
    const window = denial.code === 'quota_monthly_exceeded' ? quota.monthly : quota.daily;
    const wait = Math.max(1, Math.ceil(window.resetsAt - nowSeconds));
    Object.assign(headers, rateLimitHeaders(quota, nowSeconds), { 'Retry-After': String(wait) });
    if (request.record?.mode === 'test') headers['X-Tollgate-Mode'] = 'test';
    Object.assign(members, { retry_after: wait, limit: window.limit, resets_at: new Date(window.resetsAt * 1000).toISOString() });
  }
  const options = denial.detail === undefined ? {} : { detail: denial.detail };
  const body = problemOf(denial.code, { requestId: request.requestId, members, ...options });
  await kong.response.exit(status, Buffer.from(JSON.stringify(body)), headers);
}
