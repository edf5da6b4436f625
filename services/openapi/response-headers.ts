import { type Route } from '../kit/service/define-service';

/** A header of an answer, as OpenAPI describes one. */
export type HeaderDescription = {
  readonly description: string;
  readonly schema: { readonly type: 'string' | 'integer' | 'number' };
  /** True where no such answer lacks it. */
  readonly required?: true;
};

const text = (description: string): HeaderDescription => ({ description, schema: { type: 'string' } });
const integer = (description: string): HeaderDescription => ({ description, schema: { type: 'integer' } });
const always = (header: HeaderDescription): HeaderDescription => ({ ...header, required: true });

/** What any answer may carry: said once, in the document's components. */
export const COMMON_HEADERS = {
  'X-Kong-Request-Id': text('The ID of the request: the dashboard and `tollgate explain` explain a refusal by it.'),
  'RateLimit-Policy': text('The limits that apply: `q` requests in each window of `w` seconds.'),
  RateLimit: text('What is left of each limit: `r` requests, for another `t` seconds.'),
  'X-Tollgate-Charged': integer('How many units the request cost; 0 if they were given back.'),
  'X-Tollgate-Refund': text('`capped`: this failure would have been given back, but so many were today that it stays charged.'),
  'X-Tollgate-Mode': text('`test` when the key is a test key.'),
} as const;

const BY_STATUS: Readonly<Record<number, Readonly<Record<string, HeaderDescription>>>> = {
  401: { 'WWW-Authenticate': text('How to send a key; of the access check.') },
  405: { Allow: always(text('The methods that the route takes.')) },
  429: { 'Retry-After': always(integer('Seconds until the request may be sent again.')) },
  503: { 'Retry-After': integer('Seconds until the request may be sent again; of the access check.') },
};

const PROVIDER = { 'X-Upstream-Provider': text('Which provider was asked.') };
const VERSION = {
  ETag: text('The version of the file, where Drive tells one.'),
  'Last-Modified': text('When the file was last changed, where Drive tells it.'),
};
const RANGES = { 'Accept-Ranges': always(text('`bytes`, or `none` where the size of the file is not known.')) };
const PART = { 'Content-Range': always(text('Which bytes of the file the answer holds, and how many the file has.')) };
const FILE = { ...VERSION, ...RANGES, 'Content-Disposition': always(text('`inline`, with the name of the file.')) };
const OTP_WAIT = { 400: { 'Retry-After': integer('Of `otp_throttled`: seconds until another OTP may be asked for.') } };

/** What single routes add, by status. */
const BY_PATH: Readonly<Record<string, Readonly<Record<number, Readonly<Record<string, HeaderDescription>>>>>> = {
  '/aadhaar/start': OTP_WAIT,
  '/aadhaar/captcha': OTP_WAIT,
  '/background_remover': { 200: { Link: always(text('The route that takes this one’s place.')) } },
  '/gdplay/stream': { 200: FILE, 206: { ...FILE, ...PART }, 304: VERSION, 416: { ...RANGES, ...PART } },
  '/image/background_remover': {
    200: {
      'X-Image-Width': integer('Pixels; where the answer is the picture itself.'),
      'X-Image-Height': integer('Pixels; where the answer is the picture itself.'),
      'X-Image-Status': text('As status in the JSON answer: `success` or `uncertain`; where the answer is the picture itself.'),
      'X-Image-Engine': text('As engine in the JSON answer; where the answer is the picture itself.'),
      'X-Image-Confidence': { description: 'As confidence in the JSON answer, unless that is null.', schema: { type: 'number' } },
    },
  },
  '/pincode': { 200: PROVIDER, 404: PROVIDER, 502: PROVIDER, 504: PROVIDER },
};

/** The headers of one answer of a route besides those that any answer may carry. */
export function headersOf({ path }: Pick<Route, 'path'>, status: number): Readonly<Record<string, HeaderDescription>> {
  return { ...BY_STATUS[status], ...BY_PATH[path]?.[status] };
}
