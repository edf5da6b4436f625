import { listProblems, type ProblemCode, statusOf } from '../../plugins/core/problems';
import { type Route } from '../kit/service/define-service';

/** One way in which a route refuses or fails. */
export interface Refusal {
  readonly status: number;
  readonly code: string;
  readonly title: string;
}

const TITLES = new Map<string, string>(listProblems().map(({ code, title }) => [code, title]));
const fromTable = (code: ProblemCode): Refusal => ({ status: statusOf(code), code, title: TITLES.get(code) ?? '' });

/** The access check's, which come before any route. */
const ACCESS: readonly ProblemCode[] = [
  'key_missing', 'ambiguous_key', 'key_unknown', 'key_expired', 'product_not_authorised', 'subscription_missing', 'subscription_inactive',
  'caller_not_whitelisted', 'link_not_valid', 'gateway_proof_missing', 'quota_daily_exceeded', 'quota_monthly_exceeded', 'request_not_readable',
  'access_layer_unavailable', 'quota_unavailable',
]; // prettier-ignore

/** The gateway's own, in one code: a head or body that is too large or no HTTP, a service that is away. */
const GATEWAY: readonly Refusal[] = [
  { status: 400, code: 'gateway_error', title: 'The request is no HTTP' },
  { status: 413, code: 'gateway_error', title: 'Body over 210 MiB' },
  { status: 414, code: 'gateway_error', title: 'Request line over 8,192 bytes' },
  { status: 502, code: 'gateway_error', title: 'Service gone' },
  { status: 503, code: 'gateway_error', title: 'Service away' },
  { status: 504, code: 'gateway_error', title: 'Service late' },
];

/** Codes that are finer than the table of problems, with the status that they stand under. */
const FINER = {
  session_expired: [400, 'No such session, or it has ended'],
  session_busy: [400, 'Another step of the session is under way'],
  invalid_sequence: [400, 'The step does not follow the last one'],
  attempts_exhausted: [400, 'Too many wrong attempts: the session has ended'],
  refreshes_exhausted: [400, 'The session shows no more captchas'],
  otp_invalid: [400, 'OTP wrong'],
  otp_expired: [400, 'OTP expired'],
  otp_throttled: [400, 'Too many OTPs for this number'],
  not_an_apk: [400, 'The file is no APK'],
  apk_malformed: [422, 'The APK cannot be read'],
  apk_too_complex: [422, 'The APK would cost too much to read'],
  captcha_rejected: [502, 'Captcha rejected: the next one is in the answer'],
  number_unknown: [502, 'The source has no record of this number'],
  no_foreground: [502, 'No clear foreground'],
  pages_unreachable: [502, 'None of the pages could be read'],
  pages_timeout: [504, 'None of the pages answered in time'],
} as const satisfies Record<string, readonly [number, string]>;

/** Two routes call it `not_found` too, there under 404. */
const SENT_AS: Readonly<Record<string, string>> = { number_unknown: 'not_found' };

function finer(...codes: (keyof typeof FINER)[]): readonly Refusal[] {
  return codes.map((code) => ({ status: FINER[code][0], code: SENT_AS[code] ?? code, title: FINER[code][1] }));
}

const PROVIDER_ERROR: readonly Refusal[] = [
  { status: 404, code: 'provider_error', title: 'The provider has no record (reason no_records)' },
  { status: 502, code: 'provider_error', title: 'The provider failed' },
  { status: 504, code: 'provider_error', title: 'The provider did not answer in time' },
];
const PAGES = finer('pages_unreachable', 'pages_timeout');
const REFRESH = finer('session_expired', 'session_busy', 'refreshes_exhausted');

/** What single routes add to the rest. */
const OWN: Readonly<Record<string, readonly Refusal[]>> = {
  '/gst/data': finer('session_expired', 'session_busy', 'attempts_exhausted', 'captcha_rejected', 'number_unknown'),
  '/gst/refresh_captcha': REFRESH,
  '/api/v1/gst/refresh-captcha': REFRESH,
  '/aadhaar/start': finer('otp_throttled', 'number_unknown'),
  '/aadhaar/captcha': finer('session_expired', 'session_busy', 'invalid_sequence', 'attempts_exhausted', 'otp_throttled', 'number_unknown'),
  '/aadhaar/otp': finer('session_expired', 'session_busy', 'invalid_sequence', 'attempts_exhausted', 'otp_invalid', 'otp_expired'),
  '/app/analyze': finer('not_an_apk', 'apk_malformed', 'apk_too_complex'),
  '/image/background_remover': finer('no_foreground'),
  '/pincode': PROVIDER_ERROR,
  '/gdplay/stream': (['not_found', 'precondition_failed', 'media_type_unsupported', 'range_not_satisfiable'] as const).map(fromTable),
  '/gdplay/link': (['not_found', 'media_type_unsupported'] as const).map(fromTable),
  '/gdplay/thumbnail': (['not_found', 'media_type_unsupported'] as const).map(fromTable),
  '/seo/authority': PAGES,
  '/seo/backlinks': PAGES,
  '/seo/link_pyramid': PAGES,
  '/seo/spam': PAGES,
};

/** Successes besides 200. */
const MORE_SUCCESSES: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  '/gdplay/stream': { 206: 'The range that was asked for', 304: 'Not modified: the version that the request names is current' },
};

/** Whether a route reads a body at all: those of GET are ignored. */
export function readsBody({ method, body }: Route): boolean {
  return method !== 'GET' && body?.kind !== 'ignored';
}

/** Every status and code that a route can refuse or fail with, as callers see it. */
export function refusalsOf(route: Route): readonly Refusal[] {
  const codes: ProblemCode[] = ['invalid_request', ...ACCESS, 'processing_failed', 'service_not_ready'];
  if (route.method !== 'ANY') codes.push('method_not_allowed');
  if (route.validationStatus === 422) codes.push('validation_failed');
  if (readsBody(route)) codes.push('payload_too_large', 'media_type_unsupported');
  if (!isIndex(route)) codes.push('upstream_failed', 'upstream_timeout', 'upstream_not_configured');
  if (!route.isLight) codes.push('concurrency_exceeded');
  const all = [...codes.map(fromTable), ...(OWN[route.path] ?? []), ...GATEWAY];
  return [...new Map(all.map((each) => [`${each.status} ${each.code}`, each])).values()];
}

/** Light routes that ask nobody. */
function isIndex({ isLight, path }: Route): boolean {
  return isLight === true && !path.endsWith('/health');
}

/** Statuses of success besides 200, with what they say. */
export function moreSuccessesOf({ path }: Route): Readonly<Record<number, string>> {
  return MORE_SUCCESSES[path] ?? {};
}
