import { type Failure, failureOf, type FinerCode, finerFailureOf } from '../../openapi/error-table';

const finer = (...codes: FinerCode[]): readonly Failure[] => codes.map(finerFailureOf);

const PROVIDER_ERROR = finer('provider_no_record', 'provider_failed', 'provider_timeout');
const PAGES = finer('pages_unreachable', 'pages_timeout');
const REFRESH = finer('session_expired', 'session_busy', 'refreshes_exhausted');

/** What single routes refuse or fail with, besides what all do. */
export const OWN_FAILURES: Readonly<Record<string, readonly Failure[]>> = {
  '/gst/data': finer('session_expired', 'session_busy', 'attempts_exhausted', 'captcha_rejected', 'number_unknown'),
  '/gst/refresh_captcha': REFRESH,
  '/api/v1/gst/refresh-captcha': REFRESH,
  '/aadhaar/start': finer('otp_throttled', 'number_unknown'),
  '/aadhaar/captcha': finer('session_expired', 'session_busy', 'invalid_sequence', 'attempts_exhausted', 'otp_throttled', 'number_unknown'),
  '/aadhaar/otp': finer('session_expired', 'session_busy', 'invalid_sequence', 'attempts_exhausted', 'otp_invalid', 'otp_expired'),
  '/app/analyze': finer('not_an_apk', 'apk_malformed', 'apk_too_complex'),
  '/image/background_remover': finer('no_foreground', 'cutout_uncertain'),
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
export const MORE_SUCCESSES: Readonly<Record<string, Readonly<Record<number, string>>>> = {
  '/gst/start': { 101: 'Switching protocols: the request asked for a WebSocket, which is charged once it is open' },
  '/gdplay/stream': { 206: 'The range that was asked for', 304: 'Not modified: the version that the request names is current' },
};

/** What an answer of bytes may be, by route. */
export const MEDIA_TYPES: Readonly<Record<string, readonly string[]>> = {
  '/gdplay/stream': ['video/*', 'audio/*'],
  '/gdplay/thumbnail': ['image/*'],
  '/image/background_remover': ['image/*'],
};

/** The file in which a sample keeps an answer of bytes, by route. */
export const SAVED_AS: Readonly<Record<string, string>> = { '/gdplay/stream': 'video.mp4', '/gdplay/thumbnail': 'thumbnail.png' };
