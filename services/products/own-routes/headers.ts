import { always, type HeaderDescription, integer, text } from '../../openapi/header-description';

const PROVIDER = { 'X-Upstream-Provider': text('Which provider was asked.') };
const VERSION = {
  ETag: text('The version of the file, where Drive tells one.'),
  'Last-Modified': text('When the file was last changed, where Drive tells it.'),
};
const RANGES = { 'Accept-Ranges': always(text('`bytes`, or `none` where the size of the file is not known.')) };
const PART = { 'Content-Range': always(text('Which bytes of the file the answer holds, and how many the file has.')) };
const FILE = { ...VERSION, ...RANGES, 'Content-Disposition': always(text('`inline`, with the name of the file.')) };
const OTP_WAIT = { 400: { 'Retry-After': integer('Of `otp_throttled`: seconds until another OTP may be asked for.') } };

/** What answers of single routes carry, by status, besides what all do. */
export const OWN_HEADERS: Readonly<Record<string, Readonly<Record<number, Readonly<Record<string, HeaderDescription>>>>>> = {
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
