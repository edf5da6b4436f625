import { LINK_PARAMETER } from '../core/proof/access-link';
import { CONTEXT_HEADER, CONTEXT_LIFETIME_SECONDS, type ContextSigner, type RequestContext } from '../core/proof/context-token';
import { headersToStrip, type RequestHeaders, withoutCopies, withoutKey } from '../core/access/credential-location';
import { crossOriginHeaders, preflightHeaders } from '../core/access/cross-origin';
import { type KongPdk } from '../core/access/kong-pdk';
import { problemOf, statusOf, type ReadOn } from '../core/problems';
import { rateLimitHeaders, reportQuota, type QuotaReport } from '../core/access/quota';
import { type RateReport } from '../core/access/rate';
import { removeParameter } from '../core/access/raw-parameters';
import { TRACE_HEADER } from '../core/proof/trace-context';
import { type Admission, type Consumer, type AccessRefusal, type Verdict } from '../core/access/verdict';
import { type AccessRecord } from '../core/ports';
import { type AccessRequest, type Denial } from './access-request';
import { type AccessLayerConfig } from './config';

function quotaOf(request: AccessRequest): QuotaReport | null {
  const { spend, subscription } = request;
  return spend && subscription ? reportQuota(spend.standing, subscription.limits) : null;
}

const LOWER_CONTEXT_HEADER = CONTEXT_HEADER.toLowerCase();

/** Kong removes a header that is set to an empty list. */
const REMOVED: string[] = [];

/** A name may hold anything; a header and a label of a metric may not. */
function consumerOf({ customerId, customerName, credentialId }: AccessRecord): Consumer {
  const name = customerName?.replaceAll(/\p{Cc}+/gu, ' ').trim();
  return { id: customerId, username: name || customerId, credentialId };
}

/** Changes an admitted request on its way to the service: adds the proof, removes the credentials. */
export function admit(request: AccessRequest, signing: { sign: ContextSigner; nowSeconds: number }): Admission {
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
  const set: Record<string, string> = {};
  if (request.trace) set[TRACE_HEADER] = request.trace.traceparent;
  // Must come last, so that a message to the gateway ends with bytes that differ in every request (writeExitArgs in plugins/server says
  // why).
  set[CONTEXT_HEADER] = signing.sign(context, subscription.proof);
  const responseHeaders = crossOriginHeaders(record.whitelist, request.headers);
  if (quota && request.config.rateLimitHeaders === 'gateway') Object.assign(responseHeaders, rateLimitHeaders(quota, signing.nowSeconds));
  return {
    admitted: true,
    set,
    remove: namesToRemove(request),
    rawQuery: strippedQuery(request),
    body: request.strippedBody,
    target: record.mode === 'test' ? subscription.sandbox : undefined,
    consumer: request.config.consumer ? consumerOf(record) : undefined,
    responseHeaders,
  };
}

function strippedQuery({ config, rawQuery, key, link }: AccessRequest): string {
  return withoutCopies(link ? removeParameter(rawQuery, LINK_PARAMETER) : withoutKey(rawQuery, config.ownNames), key ?? '');
}

/** The proof replaces what the client sent. Two spellings of one header in a call would leave it to Kong which one wins. */
function namesToRemove({ config, headers, key }: AccessRequest): readonly string[] {
  const names = headersToStrip(headers, key ?? '', config.ownNames.headers).filter((name) => name !== LOWER_CONTEXT_HEADER);
  return config.consumer ? names.concat(CONSUMER_HEADERS) : names;
}

/**
 * Passes on a request on a route that does not enforce, to where it would go without the access layer and without a proof. Whatever could
 * be taken for a proof is removed, and so is a key of ours.
 */
export function letThrough(request: AccessRequest): Admission {
  const { config, headers, key, strippedBody, trace } = request;
  return {
    admitted: true,
    set: trace ? { [TRACE_HEADER]: trace.traceparent } : {},
    remove: headersToStrip(headers, key, config.ownNames.headers),
    rawQuery: strippedQuery(request),
    body: strippedBody,
    target: undefined,
    responseHeaders: {},
  };
}

/** The one header that takes a key, if no other place does. */
export function onlyHeader({ keyIn, ownNames }: AccessLayerConfig): string | undefined {
  if (keyIn.size !== 1) return undefined;
  return keyIn.has('x-api-key') ? 'X-API-Key' : ownNames.headers[0];
}

/** How to authenticate, for a 401 (RFC 9110, section 11.6.1). @param realm without quotes and backslashes */
function challenge(request: AccessRequest, realm: string): string {
  const header = onlyHeader(request.config);
  return header === undefined ? `Bearer realm="${realm}"` : `ApiKey realm="${realm}", header="${header}"`;
}

/** The pages that may read a refusal. Without these headers an inactive key looks like an unknown one. */
function readersOf({ record, headers }: AccessRequest, { code }: Denial): Record<string, string> {
  return record && code !== 'key_unknown' && code !== 'key_inactive' ? crossOriginHeaders(record.whitelist, headers) : {};
}

const EMPTY = Buffer.alloc(0);

/** Answers a browser's preflight. No key is read and nothing is charged. The status is 200, as in Kong's own CORS plugin. */
export function answerPreflight(headers: RequestHeaders): AccessRefusal {
  return { admitted: false, status: 200, headers: preflightHeaders(headers['access-control-request-headers']), body: EMPTY };
}

/** A store that is down is usually back within a second. */
const RETRY_SECONDS = '1';

export interface RefusalSetting {
  readonly nowSeconds: number;
  readonly realm?: string | undefined;
  readonly readOn?: ReadOn | undefined;
}

/** Members of a refusal by a limit: when it ends, and where a larger plan is sold, unless the limit is the customer's own. */
function limitMembers({ subscription }: AccessRequest, window: QuotaReport['daily'], { nowSeconds, readOn }: RefusalSetting) {
  const upgrade = subscription?.isUpgradable && !subscription.isCapped && readOn?.plans;
  return {
    retry_after: Math.max(1, Math.ceil(window.resetsAt - nowSeconds)),
    limit: window.limit,
    resets_at: new Date(window.resetsAt * 1000).toISOString(),
    ...(upgrade && { upgrade: upgrade + subscription.product }),
  };
}

/** Members of a refusal by the rate. A larger plan need not have a higher one, so none is named. */
function rateMembers({ limit, windowSeconds, waitSeconds }: RateReport) {
  return { retry_after: Math.max(1, waitSeconds), limit, window_seconds: windowSeconds };
}

/** The problem that ends the request; nothing reaches the service. */
export function refuse(request: AccessRequest, denial: Denial, setting: RefusalSetting): AccessRefusal {
  const { nowSeconds, readOn, realm = 'tollgate' } = setting;
  const status = statusOf(denial.code);
  const headers: Record<string, string> = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' };
  let members: Record<string, unknown> = {};
  const quota = quotaOf(request);
  Object.assign(headers, readersOf(request, denial));
  if (status === 401) headers['WWW-Authenticate'] = challenge(request, realm);
  if (status === 503) headers['Retry-After'] = RETRY_SECONDS;
  if (quota && status === 429) {
    const window = denial.code === 'quota_monthly_exceeded' ? quota.monthly : quota.daily;
    const isRate = denial.code === 'rate_exceeded' && quota.rate !== undefined;
    const limit = isRate ? rateMembers(quota.rate) : limitMembers(request, window, setting);
    members = limit;
    Object.assign(headers, rateLimitHeaders(quota, nowSeconds), { 'Retry-After': String(limit.retry_after) });
    if (request.record?.mode === 'test') headers['X-Tollgate-Mode'] = 'test';
  }
  const options = denial.detail === undefined ? {} : { detail: denial.detail };
  const body = problemOf(denial.code, { requestId: request.requestId, members, readOn, ...options });
  return { admitted: false, status, headers, body: Buffer.from(JSON.stringify(body)) };
}

/**
 * Applies the verdict to Kong's request. All writes are sent together with the end of the event.
 * @param sentQuery as Kong has it
 */
export async function tellKong(kong: KongPdk, verdict: Verdict, sentQuery: string): Promise<void> {
  if (!verdict.admitted) {
    await kong.response.exit(verdict.status, verdict.body, { ...verdict.headers });
    return;
  }
  const { set, remove, rawQuery, body, target, consumer, responseHeaders } = verdict;
  const headers: Record<string, string | string[]> = {};
  for (const name of remove) headers[name] = REMOVED;
  if (consumer) Object.assign(headers, consumerHeaders(consumer));
  Object.assign(headers, set);
  const writes: Promise<unknown>[] = [kong.service.request.setHeaders(headers)];
  if (consumer) writes.push(authenticate(kong, consumer));
  if (rawQuery !== sentQuery) writes.push(kong.service.request.setRawQuery(rawQuery));
  if (body) writes.push(kong.service.request.setRawBody(body));
  if (Object.keys(responseHeaders).length > 0) writes.push(kong.response.setHeaders({ ...responseHeaders }));
  if (target) writes.push(kong.service.setTarget(target.host, target.port));
  await Promise.all(writes);
}

function authenticate(kong: KongPdk, { id, username, credentialId }: Consumer): Promise<unknown> {
  return kong.client.authenticate({ id, username }, { id: credentialId, consumer_id: id });
}

/**
 * Headers with which Kong's authentication plugins name the caller to a service. A client might send any of them, also with underscores.
 */
const NAMES = ['id', 'username', 'custom-id', 'groups']
  .map((name) => `x-consumer-${name}`)
  .concat('x-credential-identifier', 'x-anonymous-consumer');

/** Headers about the consumer that a client must not set. */
const CONSUMER_HEADERS: readonly string[] = [...NAMES, ...NAMES.map((name) => name.replaceAll('-', '_'))];

/** The headers with which Kong names an authenticated consumer to the service. */
function consumerHeaders({ id, username, credentialId }: Consumer): Record<string, string> {
  return { 'x-consumer-id': id, 'x-consumer-username': username, 'x-credential-identifier': credentialId };
}
