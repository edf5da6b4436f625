import { createHmac } from 'node:crypto';
import { type Clock, type KeyMode } from '../../../plugins/core/ports';
import { type AadhaarCaptchaAnswer } from '../generated/identity/identity/v1/AadhaarCaptchaAnswer';
import { type AadhaarCaptchaRequest__Output } from '../generated/identity/identity/v1/AadhaarCaptchaRequest';
import { type AadhaarOtpRequest__Output } from '../generated/identity/identity/v1/AadhaarOtpRequest';
import { type AadhaarRecord } from '../generated/identity/identity/v1/AadhaarRecord';
import { type AadhaarStartRequest__Output } from '../generated/identity/identity/v1/AadhaarStartRequest';
import { type Captcha } from '../generated/identity/identity/v1/Captcha';
import {
  AADHAAR_LONGEST_MS,
  admitAadhaarCaptcha,
  admitAadhaarOtp,
  openAadhaarSession,
  settleAadhaarCaptcha,
  settleAadhaarOtp,
  type AadhaarSession,
} from './aadhaar-session';
import { type IdentityCall } from './gst-handlers';
import { type OtpThrottle } from './otp-throttle';
import { refusalError } from './refusals';
import { runStep, type StepTarget } from './run-step';
import { SessionTable, type SessionTableOptions } from './session-table';
import { exchangeError } from './upstream/source-failure';
import { type AadhaarCaptchaCheck, type AadhaarOtpCheck, type AadhaarUpstream, type HolderRecord } from './upstream/upstreams';

interface AadhaarHandlersOptions {
  readonly upstream: AadhaarUpstream;
  /** Throttles by mode. The sandbox sends no OTPs. */
  readonly throttles: Readonly<Record<KeyMode, OtpThrottle>>;
  /** Key of the HMAC with which the throttle identifies numbers. */
  readonly hmacKey: Buffer;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly sessions: Pick<SessionTableOptions, 'most' | 'mostOfOne'>;
  /** Receives a function that counts open sessions. */
  readonly watchSessions?: (read: () => number) => void;
}

interface AadhaarHandlers {
  AadhaarStart(this: void, request: AadhaarStartRequest__Output, call: IdentityCall): Promise<Captcha>;
  AadhaarCaptcha(this: void, request: AadhaarCaptchaRequest__Output, call: IdentityCall): Promise<AadhaarCaptchaAnswer>;
  AadhaarOtp(this: void, request: AadhaarOtpRequest__Output, call: IdentityCall): Promise<AadhaarRecord>;
}

type Opened = { readonly session: AadhaarSession; readonly captcha: Omit<Captcha, 'sessionId'> };

async function start(options: AadhaarHandlersOptions, aadhaar: string, call: IdentityCall): Promise<Opened> {
  const numberKey = numberKeyOf(aadhaar, options.hmacKey);
  const verdict = await options.throttles[call.mode].check(numberKey);
  if (!verdict.allowed) throw refusalError({ code: 'otp_throttled', retryAfterSeconds: verdict.retryAfterSeconds });
  const opened = await options.upstream.start(aadhaar, call);
  if (!opened) throw refusalError({ code: 'not_found' });
  const { upstreamId, image } = opened;
  return {
    session: openAadhaarSession({ upstreamId, numberKey, lastFour: lastFourOf(aadhaar) }, options.clock.monotonic()),
    captcha: { image: image.bytes, mediaType: image.mediaType },
  };
}

/** An accepted captcha sends an OTP, so this number's allowance is checked before the captcha is sent. */
async function checkCaptcha(
  options: AadhaarHandlersOptions,
  session: AadhaarSession,
  captcha: string,
  call: IdentityCall,
): Promise<AadhaarCaptchaCheck> {
  const ticket = await options.throttles[call.mode].take(session.numberKey);
  if (!ticket.allowed) throw refusalError({ code: 'otp_throttled', retryAfterSeconds: ticket.retryAfterSeconds });
  // If this fails, the OTP may still have been sent, so the ticket stays taken.
  const check = await options.upstream.checkCaptcha(session.upstreamId, captcha, call);
  if (check.kind !== 'otp_sent') await ticket.giveBack();
  return check;
}

function masked(text: string | undefined): string | undefined {
  return text === undefined ? undefined : maskNumbers(text);
}

function messageOf(record: HolderRecord, lastFour: string): AadhaarRecord {
  const optional = {
    dateOfBirth: masked(record.dateOfBirth),
    gender: masked(record.gender),
    careOf: masked(record.careOf),
    photoBase64: record.photoBase64,
    referenceId: masked(record.referenceId),
  };
  return {
    name: maskNumbers(record.name),
    address: Object.fromEntries(Object.entries(record.address).map(([field, text]) => [field, maskNumbers(text)])),
    maskedAadhaar: maskedNumber(lastFour),
    ...Object.fromEntries(Object.entries(optional).filter(([, text]) => text !== undefined)),
  };
}

/** Handlers of Aadhaar sessions, which live in this process. */
export function createAadhaarHandlers(options: AadhaarHandlersOptions): AadhaarHandlers {
  const { upstream, clock, sessions } = options;
  const now = (): number => clock.monotonic();
  const table = new SessionTable<AadhaarSession>({ longestMs: AADHAAR_LONGEST_MS, ...sessions, now });
  options.watchSessions?.(() => table.size);
  const target = (id: string, owner: IdentityCall): StepTarget<AadhaarSession> => ({ table, id, owner, now });
  return {
    AadhaarStart: async ({ aadhaar }, call) => {
      try {
        const { id, captcha } = await table.open(call, () => start(options, aadhaar, call));
        return { sessionId: id, ...captcha };
      } catch (error) {
        throw exchangeError(error);
      }
    },
    AadhaarCaptcha: async ({ sessionId, captcha }, call) => {
      const outcome = await runStep<AadhaarSession, AadhaarCaptchaCheck>(target(sessionId, call), {
        admit: admitAadhaarCaptcha,
        exchange: (session) => checkCaptcha(options, session, captcha, call),
        settle: settleAadhaarCaptcha,
      });
      if (outcome.kind === 'otp_sent') return { otpSent: {} };
      if (outcome.kind !== 'captcha_rejected') throw new Error('the machine let a refused captcha pass');
      return { captcha: { sessionId, image: outcome.image.bytes, mediaType: outcome.image.mediaType } };
    },
    AadhaarOtp: async ({ sessionId, otp }, call) => {
      let lastFour = '';
      const outcome = await runStep<AadhaarSession, AadhaarOtpCheck>(target(sessionId, call), {
        admit: admitAadhaarOtp,
        exchange: (session) => {
          ({ lastFour } = session);
          return upstream.checkOtp(session.upstreamId, otp, call);
        },
        settle: settleAadhaarOtp,
      });
      if (outcome.kind !== 'record') throw new Error('the machine let a refused OTP pass');
      return messageOf(outcome.record, lastFour);
    },
  };
}

/** The form in which the throttle identifies a number. */
export function numberKeyOf(aadhaar: string, secret: Buffer): string {
  return createHmac('sha256', secret).update(aadhaar).digest('base64url');
}

function lastFourOf(aadhaar: string): string {
  return aadhaar.slice(-4);
}

function maskedNumber(lastFour: string): string {
  return `XXXXXXXX${lastFour}`;
}

/** Twelve digits, unbroken or in groups of four, that begin like an Aadhaar number. */
const NUMBER_LIKE = /(?<!\d)[2-9]\d{3}([ -]?)\d{4}\1(\d{4})(?!\d)/g;

/** Masks everything in the upstream's text that looks like a full number. */
export function maskNumbers(text: string): string {
  return text.replace(NUMBER_LIKE, (_all, _gap: string, lastFour: string) => maskedNumber(lastFour));
}
