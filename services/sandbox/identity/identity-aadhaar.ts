import { CAPTCHA_TEXTS } from './identity-captcha';
import {
  createLinkServer,
  errorMessage,
  showNextCaptcha,
  solves,
  textOf,
  type LinkReply,
  type LinkSession,
  type Message,
} from './identity-link';
import { type SandboxExample } from '../sandbox-upstream';

/** Numbers with their own outcome. Every other valid number belongs to somebody. 999999990019 is the registry's own test number. */
export const AADHAAR_NUMBERS = {
  success: '999999990019',
  notFound: '999999994048',
  unexpected: '999999995008',
  upstreamError: '999999995020',
  timeout: '999999995049',
  throttled: '999999994292',
} as const;

export const OTPS = { right: '123456', wrong: '000000', expired: '440440', broken: '500500', failing: '502502', silent: '504504' } as const;
/** Seconds until every source sends the throttled number its next OTP. */
export const OTP_WAIT_SECONDS = 900;
/** Special solutions of a captcha. */
const CAPTCHAS = { wrong: 'WRONG', failing: 'FAIL502', silent: 'SLOW504' } as const;

const [firstCaptcha, secondCaptcha] = CAPTCHA_TEXTS;

function start(outcome: string, aadhaar: string, yields: string): SandboxExample {
  return { product: 'api-aadhaar', route: '/aadhaar/start', method: 'POST', outcome, input: { aadhaar }, yields };
}

function captcha(outcome: string, solution: string, yields: string): SandboxExample {
  const input = { aadhaar: AADHAAR_NUMBERS.success, captcha: solution };
  const flow = 'send aadhaar to /aadhaar/start, then its sessionId with captcha here';
  return { product: 'api-aadhaar', route: '/aadhaar/captcha', method: 'POST', outcome, input, yields: `${flow}: ${yields}` };
}

function otp(outcome: string, code: string, yields: string): SandboxExample {
  const input = { aadhaar: AADHAAR_NUMBERS.success, captcha: firstCaptcha, otp: code };
  const flow = 'send aadhaar to /aadhaar/start, its sessionId with captcha to /aadhaar/captcha, then the sessionId with otp here';
  return { product: 'api-aadhaar', route: '/aadhaar/otp', method: 'POST', outcome, input, yields: `${flow}: ${yields}` };
}

export const aadhaarExamples: readonly SandboxExample[] = [
  { product: 'api-aadhaar', route: '/aadhaar', method: 'GET', outcome: 'success', input: {}, yields: '200, the index of the product' },
  start(
    'success',
    AADHAAR_NUMBERS.success,
    `200, status captcha, a captcha that says ${firstCaptcha}; every valid number not listed here works`,
  ),
  start('not_found', AADHAAR_NUMBERS.notFound, '502 not_found'),
  start(
    'otp_throttled',
    AADHAAR_NUMBERS.throttled,
    `400 otp_throttled with retry_after ${OTP_WAIT_SECONDS}, the link sends no more OTPs now`,
  ),
  start('timeout', AADHAAR_NUMBERS.timeout, '504, the link never answers'),
  start('upstream_error', AADHAAR_NUMBERS.upstreamError, '502, the link reports that it failed'),
  start('unexpected_response', AADHAAR_NUMBERS.unexpected, '502, the link answers with something unusable'),
  captcha('success', firstCaptcha, '200, status otp'),
  captcha(
    'captcha_rejected',
    CAPTCHAS.wrong,
    `200, status captcha with the next one, ${secondCaptcha}; the third time 400 attempts_exhausted`,
  ),
  captcha('timeout', CAPTCHAS.silent, '504, the link never answers'),
  captcha('upstream_error', CAPTCHAS.failing, '502, the link reports that it failed'),
  otp('success', OTPS.right, '200, status success with the data of the holder'),
  otp('otp_invalid', OTPS.wrong, '400 otp_invalid with attempts_left; the third time 400 attempts_exhausted. Any other OTP does the same'),
  otp('otp_expired', OTPS.expired, '400 otp_expired'),
  otp('timeout', OTPS.silent, '504, the link never answers'),
  otp('processing_failed', OTPS.broken, '500, the link took the OTP and could not process it'),
  otp('upstream_error', OTPS.failing, '502, the link reports that it failed'),
];

/** A grey pixel, as PNG. */
const PHOTO = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

/** The holder's record that every upstream of this product returns. */
export function holderRecord(aadhaar: string): Message {
  return {
    name: 'Sandbox Holder',
    date_of_birth: '1990-01-31',
    gender: 'F',
    care_of: 'D/O Sandbox Parent',
    address: {
      house: '12',
      street: 'Test Street',
      locality: 'Fort',
      district: 'Mumbai',
      state: 'Maharashtra',
      pin: '400001',
      country: 'India',
    },
    photo_base64: PHOTO,
    reference_id: `sandbox-${aadhaar.slice(-4)}`,
  };
}

function checkCaptcha(session: LinkSession, solution: string): LinkReply {
  if (solution === CAPTCHAS.silent) return undefined;
  if (solution === CAPTCHAS.failing) return errorMessage('upstream');
  if (!solves(session, solution)) return showNextCaptcha(session);
  session.solved = true;
  return { type: 'otp_required' };
}

function checkOtp(session: LinkSession, code: string, end: () => void): LinkReply {
  switch (code) {
    case OTPS.right:
      end();
      return { type: 'result', payload: holderRecord(session.subject) };
    case OTPS.expired:
      end();
      return errorMessage('otp_expired');
    case OTPS.broken:
      return errorMessage('processing');
    case OTPS.failing:
      return errorMessage('upstream');
    case OTPS.silent:
      return undefined;
    default:
      return errorMessage('otp_invalid');
  }
}

function refuseStart(aadhaar: string): { readonly answer: LinkReply } | undefined {
  switch (aadhaar) {
    case AADHAAR_NUMBERS.notFound:
      return { answer: errorMessage('not_found') };
    case AADHAAR_NUMBERS.throttled:
      return { answer: { ...errorMessage('otp_throttled'), retry_after: OTP_WAIT_SECONDS } };
    case AADHAAR_NUMBERS.upstreamError:
      return { answer: errorMessage('upstream') };
    case AADHAAR_NUMBERS.unexpected:
      return { answer: { type: 'captcha', sessionId: 'sandbox', captcha: 'no image' } };
    case AADHAAR_NUMBERS.timeout:
      return { answer: undefined };
    default:
      return undefined;
  }
}

/** The link of an Aadhaar verifier: `start`, `captcha`, `otp`. */
export const serveAadhaarLink = (): ReturnType<typeof createLinkServer> =>
  createLinkServer({
    subjectMember: 'aadhaar',
    refuseStart,
    answer(message, session, { end }) {
      switch (message.type) {
        case 'captcha':
          return checkCaptcha(session, textOf(message, 'captcha'));
        case 'refresh':
          return showNextCaptcha(session);
        case 'otp':
          return session.solved ? checkOtp(session, textOf(message, 'otp'), end) : errorMessage('upstream');
        default:
          return errorMessage('upstream');
      }
    },
  });
