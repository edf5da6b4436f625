/**
 * Every response that is not a success, in one table: code → status, title, and the advice for the caller, unless the refusal gives more
 * exact advice. Used by the plugin, the services and the documentation.
 */
interface ProblemKind {
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  /** A registered problem type (RFC 9457, section 4.2), which programs know. Other codes have a page of their own, or about:blank. */
  readonly type?: string;
}

/** Registered by the IANA for draft-ietf-httpapi-ratelimit-headers. */
const QUOTA_EXCEEDED = 'https://iana.org/assignments/http-problem-types#quota-exceeded';

/** An unknown key and a revoked key get the same words, so that a stranger cannot tell them apart. */
const NOT_VALID = 'The API key is not valid. Check it for typing errors, or create a new one.';

const TABLE = {
  key_missing: {
    status: 401,
    title: 'API key missing',
    detail: 'Send your API key as "Authorization: Bearer <API_KEY>", as "X-API-Key: <API_KEY>" or as the query or form parameter api_key.',
  },
  ambiguous_key: { status: 401, title: 'More than one API key', detail: 'Send exactly one API key, in one place.' },
  key_unknown: { status: 401, title: 'API key not valid', detail: NOT_VALID },
  key_inactive: { status: 401, title: 'API key not valid', detail: NOT_VALID },
  key_expired: { status: 401, title: 'API key expired', detail: 'This API key has expired. Create a new one.' },
  product_not_authorised: {
    status: 401,
    title: 'API key not authorised for this product',
    detail: 'This API key is not authorised for the requested product. Authorise it, or use another key.',
  },
  subscription_missing: {
    status: 401,
    title: 'No subscription for this product',
    detail: 'There is no subscription for the requested product. Subscribe to it first.',
  },
  subscription_inactive: {
    status: 401,
    title: 'Subscription not active',
    detail: 'The subscription for the requested product is not active. Look at it in the dashboard, or contact support.',
  },
  caller_not_whitelisted: {
    status: 401,
    title: 'Caller not on the whitelist',
    detail: 'The whitelist rules of this API key do not admit this address or origin.',
  },
  sandbox_missing: {
    status: 401,
    title: 'No sandbox for test keys',
    detail: 'The requested product has no sandbox, so it refuses test keys. Use a live key.',
  },
  link_not_valid: {
    status: 401,
    title: 'Link not valid',
    detail: 'This link is not valid, or not for this request. Create another with your API key.',
  },
  gateway_proof_missing: {
    status: 401,
    title: 'Request did not come through the gateway',
    detail: 'Call this API through the gateway.',
  },
  quota_daily_exceeded: {
    status: 429,
    title: 'Daily request limit exceeded',
    detail: 'The daily request limit of this subscription is used up. Wait for the reset or change the plan.',
    type: QUOTA_EXCEEDED,
  },
  quota_monthly_exceeded: {
    status: 429,
    title: 'Monthly request limit exceeded',
    detail: 'The monthly request limit of this subscription is used up. Wait for the reset or change the plan.',
    type: QUOTA_EXCEEDED,
  },
  rate_exceeded: {
    status: 429,
    title: 'Requests come too fast',
    detail:
      'Requests of this subscription come faster than its rate allows. Wait for the number of seconds in Retry-After, then send fewer at once.',
    type: QUOTA_EXCEEDED,
  },
  concurrency_exceeded: {
    status: 429,
    title: 'Too many requests at once',
    detail: 'This subscription already has as many requests under way on this product as it may. Wait for one to finish.',
  },
  request_not_readable: {
    status: 400,
    title: 'Request cannot be read',
    detail: 'The request has more headers than can be checked, or a malformed query or form.',
  },
  ambiguous_path: {
    status: 400,
    title: 'Path can be read in two ways',
    detail: 'The path has an encoded slash, backslash or dot, so it would be another path when decoded. Send the path that you mean.',
  },
  access_layer_unavailable: {
    status: 503,
    title: 'Access check not possible',
    detail: 'The request could not be checked and was refused. Try again shortly.',
  },
  quota_unavailable: {
    status: 503,
    title: 'Quota check not possible',
    detail: 'The request limit could not be checked and the request was refused. Try again shortly.',
  },
  invalid_request: { status: 400, title: 'Invalid request', detail: 'The request data is missing or invalid.' },
  validation_failed: { status: 422, title: 'Validation failed', detail: 'The request data does not satisfy the rules of this route.' },
  route_unknown: { status: 404, title: 'No such route', detail: 'There is nothing at this path.' },
  not_found: { status: 404, title: 'Not found', detail: 'There is no record for this request.' },
  method_not_allowed: { status: 405, title: 'Method not allowed', detail: 'This route does not accept this method.' },
  precondition_failed: {
    status: 412,
    title: 'Precondition failed',
    detail: 'The resource has another version than the one that the request names.',
  },
  payload_too_large: { status: 413, title: 'Request too large', detail: 'The request body is larger than this route accepts.' },
  media_type_unsupported: { status: 415, title: 'Media type not supported', detail: 'This route does not accept this content type.' },
  range_not_satisfiable: { status: 416, title: 'Range not satisfiable', detail: 'The requested range lies outside the resource.' },
  processing_failed: { status: 500, title: 'Request could not be processed', detail: 'The request could not be processed.' },
  upstream_failed: {
    status: 502,
    title: 'Upstream failed',
    detail: 'The source of this data failed or answered with something unexpected.',
  },
  upstream_timeout: { status: 504, title: 'Upstream timed out', detail: 'The source of this data did not answer in time.' },
  upstream_not_configured: {
    status: 503,
    title: 'Product not configured',
    detail: 'No live source is configured for this request. Test keys work.',
  },
  service_not_ready: { status: 503, title: 'Service not ready', detail: 'The service cannot answer right now. Try again shortly.' },
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof TABLE;

/** Refusals that only the access layer returns. */
export type DenialCode = Extract<
  ProblemCode,
  | 'key_missing'
  | 'ambiguous_key'
  | 'key_unknown'
  | 'key_inactive'
  | 'key_expired'
  | 'product_not_authorised'
  | 'subscription_missing'
  | 'subscription_inactive'
  | 'caller_not_whitelisted'
  | 'sandbox_missing'
  | 'link_not_valid'
  | 'quota_daily_exceeded'
  | 'quota_monthly_exceeded'
  | 'rate_exceeded'
  | 'request_not_readable'
  | 'ambiguous_path'
  | 'access_layer_unavailable'
  | 'quota_unavailable'
>;

/** RFC 9457 body. Further members belong to the case (`errors`, `retry_after`, …). */
export interface Problem {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: string;
  readonly request_id: string;
  readonly [member: string]: unknown;
}

/** Addresses of pages that explain a refusal to callers. Absent if none is configured. */
export interface ReadOn {
  /** The address up to the code. */
  readonly errors?: string | undefined;
  /** The address up to the request id. */
  readonly explain?: string | undefined;
  /** The address up to the product's id. */
  readonly plans?: string | undefined;
}

export interface ProblemOptions {
  readonly requestId: string;
  /** Replaces the table's text. Must never hold a key, a personal number or an upstream's URL. */
  readonly detail?: string;
  /** A code finer than the table's (`captcha_rejected` under `upstream_failed`); status and title stay. */
  readonly code?: string;
  readonly members?: Readonly<Record<string, unknown>>;
  /** The pages that explain refusals to callers. Without it, the body has no address. */
  readonly readOn?: ReadOn | undefined;
  /** False for a request that is not recorded, so that there is nothing to explain. */
  readonly isRecorded?: boolean;
}

/** A refusal that was only recorded, on a route with `enforce: false`. */
type WouldRefuse = `would_refuse:${DenialCode}`;

/** The outcome of a decision. */
export type Outcome = 'admitted' | DenialCode | WouldRefuse;

const WOULD = 'would_refuse:';

export const wouldRefuse = (code: DenialCode): WouldRefuse => `${WOULD}${code}`;

/** The code of a refusal, whether it was carried out or only recorded; undefined for an admission. */
export function denialOf(outcome: Outcome): DenialCode | undefined {
  if (outcome === 'admitted') return undefined;
  return (outcome.startsWith(WOULD) ? outcome.slice(WOULD.length) : outcome) as DenialCode;
}

/** Why the caller was refused; undefined when the request went on. */
export function refusalIn(outcome: Outcome): DenialCode | undefined {
  return outcome.startsWith(WOULD) ? undefined : denialOf(outcome);
}

/** The status of this code in the table. */
export function statusOf(code: ProblemCode): number {
  return TABLE[code].status;
}

export function titleOf(code: ProblemCode): string {
  return TABLE[code].title;
}

/** All codes with status and title, for documentation. */
export function listProblems(): { code: ProblemCode; status: number; title: string; detail: string }[] {
  return (Object.keys(TABLE) as ProblemCode[]).map((code) => ({
    code,
    status: TABLE[code].status,
    title: TABLE[code].title,
    detail: TABLE[code].detail,
  }));
}

/** The code that a response has. An inactive key is reported as an unknown one: only `explain` distinguishes them. */
export function codeShown(code: ProblemCode): ProblemCode {
  return code === 'key_inactive' ? 'key_unknown' : code;
}

/** Builds the body of a refusal. */
export function problemOf(code: ProblemCode, options: ProblemOptions): Problem {
  const kind: ProblemKind = TABLE[code];
  const { requestId, readOn = {}, isRecorded = true } = options;
  const shown = options.code ?? codeShown(code);
  return {
    ...options.members,
    type: kind.type ?? (readOn.errors === undefined ? 'about:blank' : readOn.errors + shown),
    title: kind.title,
    status: kind.status,
    detail: options.detail ?? kind.detail,
    code: shown,
    request_id: requestId,
    ...(readOn.explain !== undefined && isRecorded && { help: readOn.explain + requestId }),
  };
}
