import { type ProblemCode } from '../problems';

/**
 * How a request for a refund ended. `uncharged`: no such unit is known, or its day is before yesterday. `capped`: see {@link
 * mostRefundsOf}.
 */
export type RefundOutcome = 'refunded' | 'repeated' | 'uncharged' | 'capped';

/** A source that fails more than one call in ten all day is an outage, for which the seller compensates with other limits. */
const SHARE_OF_DAILY_LIMIT = 0.1;
/** One try and nine repeats, so that a small plan survives an outage of minutes. */
const MIN_PER_DAY = 10;

/**
 * The maximum units of one subscription that are given back on one day. Without a bound, a caller who can cause a failure could get around
 * the daily limit. Exempt requests have a bound of their own, again of the daily limit, because they too cost a look-up of a key and a
 * counter.
 * @param dailyLimit requests a day
 */
export function mostRefundsOf(dailyLimit: number, isExempt = false): number {
  return isExempt ? dailyLimit : Math.max(MIN_PER_DAY, Math.floor(dailyLimit * SHARE_OF_DAILY_LIMIT));
}

/**
 * The id under which units that a request reserved but did not use are given back. They are not a refund, so no bound applies to them: at
 * least one unit stays with the request, which itself may be given back under its own id.
 */
export const restIdOf = (requestId: string): string => `${requestId}/rest`;

/** Failures of Tollgate, or of a source that it chose. Every other response is charged. */
const REFUNDED_PROBLEMS: ReadonlySet<ProblemCode> = new Set([
  'processing_failed',
  'upstream_failed',
  'upstream_timeout',
  'upstream_not_configured',
  'service_not_ready',
  'concurrency_exceeded',
]);

/**
 * Who caused a refunded problem, by its finer code or its `reason`. Anything that is not listed is charged, so that no new failure becomes
 * a way to call without limit.
 */
const CAUSES: Readonly<Record<string, 'us' | 'caller'>> = {
  // Codes:
  provider_error: 'us',
  cutout_uncertain: 'us',
  captcha_rejected: 'caller',
  not_found: 'caller',
  no_foreground: 'caller',
  pages_unreachable: 'caller',
  pages_timeout: 'caller',
  // Reasons. Of sources in general:
  unreachable: 'us',
  bad_response: 'us',
  upstream_error: 'us',
  timeout: 'us',
  overloaded: 'us',
  internal: 'us',
  provider_quota: 'us',
  // Each of these comes from one source: the platform engineer's credentials or settings are wrong, which a checked input cannot cause.
  rejected: 'us',
  not_authorised: 'us',
  redirect_refused: 'us',
  // The source locked the number, delivers no more of this file, or takes too long to analyse it.
  locked: 'caller',
  quota: 'caller',
  too_complex: 'caller',
};

export interface FailureCause {
  readonly problem: ProblemCode;
  /** The response's code, if it is finer than the problem's. */
  readonly code?: string | undefined;
  /** The member `reason` of the response. */
  readonly reason?: unknown;
}

/** True when the caller is not to pay for this failure. */
export function isRefunded({ problem, code, reason }: FailureCause): boolean {
  if (!REFUNDED_PROBLEMS.has(problem)) return false;
  const finer = [code === problem ? undefined : code, reason].filter((each) => each !== undefined);
  return finer.every((each) => typeof each === 'string' && Object.hasOwn(CAUSES, each) && CAUSES[each] === 'us');
}

/** Refusals of the request itself, before anything was looked up, analysed or requested. */
const REFUSALS: ReadonlySet<ProblemCode> = new Set([
  'invalid_request',
  'validation_failed',
  'route_unknown',
  'method_not_allowed',
  'payload_too_large',
  'media_type_unsupported',
]);

/**
 * True if a request was refused for its form alone. It is charged one unit, even if the request may cost several, because the others pay
 * for work that was not done. A finer code means that more than the form was checked.
 */
export function isRefusal({ problem, code }: FailureCause): boolean {
  return REFUSALS.has(problem) && (code === undefined || code === problem);
}

/** The gateway's report of a response. */
export interface WitnessedAnswer {
  readonly status: number;
  /** False if the gateway responded itself, because the API did not. */
  readonly isFromApi: boolean;
}

const SERVER_ERROR = 500;

/**
 * True if the caller must not be charged according to the gateway's report: it could not deliver a response of the API, or the API
 * responded with 500 to 599 and the product's catalogue gives those back. A caller who left before (499) pays, because the API may have
 * done the work.
 */
export function isUndelivered({ status, isFromApi }: WitnessedAnswer, isFree5xx: boolean): boolean {
  return status >= SERVER_ERROR && (!isFromApi || isFree5xx);
}

/**
 * The responses that a product's catalogue can exempt from charging. Preflights carry no key and are always free. `5xx` relies on the
 * gateway's report and applies to every API; services exempt the others themselves.
 */
export const EXEMPTIONS = ['health', 'not_modified', 'preflight', '5xx'] as const;
export type Exemption = (typeof EXEMPTIONS)[number];

/** One response of a service: the path of its route and its status. */
export interface ExemptionCase {
  readonly route: string;
  readonly status: number;
}

/** True if the product's catalogue says that this response costs nothing: a health route's 2xx, a 304. */
export function isExempt(exemptions: readonly Exemption[], { route, status }: ExemptionCase): boolean {
  const isHealth = route.endsWith('/health') && status >= 200 && status < 300;
  return (isHealth && exemptions.includes('health')) || (status === 304 && exemptions.includes('not_modified'));
}
