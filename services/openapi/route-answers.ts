import { type ProblemCode } from '../../plugins/core/problems';
import { type Route } from '../kit/service/define-service';
import { ACCESS_DENIALS, type Failure, failureOf, type FinerCode, finerFailureOf, GATEWAY_FAILURES } from './error-table';

const finer = (...codes: FinerCode[]): readonly Failure[] => codes.map(finerFailureOf);

const PROVIDER_ERROR = finer('provider_no_record', 'provider_failed', 'provider_timeout');
const PAGES = finer('pages_unreachable', 'pages_timeout');
const REFRESH = finer('session_expired', 'session_busy', 'refreshes_exhausted');

/** What single routes add to the rest. */
const OWN: Readonly<Record<string, readonly Failure[]>> = {
  '/gst/data': finer('session_expired', 'session_busy', 'attempts_exhausted', 'captcha_rejected', 'number_unknown'),
  '/gst/refresh_captcha': REFRESH,
  '/api/v1/gst/refresh-captcha': REFRESH,
  '/aadhaar/start': finer('otp_throttled', 'number_unknown'),
  '/aadhaar/captcha': finer('session_expired', 'session_busy', 'invalid_sequence', 'attempts_exhausted', 'otp_throttled', 'number_unknown'),
  '/aadhaar/otp': finer('session_expired', 'session_busy', 'invalid_sequence', 'attempts_exhausted', 'otp_invalid', 'otp_expired'),
  '/app/analyze': finer('not_an_apk', 'apk_malformed', 'apk_too_complex'),
  '/image/background_remover': finer('no_foreground'),
  '/pincode': PROVIDER_ERROR,
  '/gdplay/stream': (['not_found', 'precondition_failed', 'media_type_unsupported', 'range_not_satisfiable'] as const).map(failureOf),
  '/gdplay/link': (['not_found', 'media_type_unsupported'] as const).map(failureOf),
  '/gdplay/thumbnail': (['not_found', 'media_type_unsupported'] as const).map(failureOf),
  '/seo/authority': PAGES,
  '/seo/backlinks': PAGES,
  '/seo/link_pyramid': PAGES,
  '/seo/spam': PAGES,
};

/** Successes besides 200. */
const MORE_SUCCESSES: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  '/gst/start': { 101: 'Switching protocols: the request asked for a WebSocket, which is charged once it is open' },
  '/gdplay/stream': { 206: 'The range that was asked for', 304: 'Not modified: the version that the request names is current' },
};

/** Whether a route reads a body at all: those of GET are ignored. */
export function readsBody({ method, body }: Route): boolean {
  return method !== 'GET' && body?.kind !== 'ignored';
}

/** Every status and code that a route can refuse or fail with, as callers see it. */
export function refusalsOf(route: Route): readonly Failure[] {
  const codes: ProblemCode[] = ['invalid_request', ...ACCESS_DENIALS, 'gateway_proof_missing', 'processing_failed', 'service_not_ready'];
  if (route.method !== 'ANY') codes.push('method_not_allowed');
  if (route.validationStatus === 422) codes.push('validation_failed');
  if (readsBody(route)) codes.push('payload_too_large', 'media_type_unsupported');
  if (!isIndex(route)) codes.push('upstream_failed', 'upstream_timeout', 'upstream_not_configured');
  if (!route.isLight) codes.push('concurrency_exceeded');
  const all = [...codes.map(failureOf), ...(OWN[route.path] ?? []), ...GATEWAY_FAILURES];
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
