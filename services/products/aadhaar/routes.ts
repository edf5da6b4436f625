import { z } from 'zod';
import { defineRoute, defineService, type ServiceTools, type CallContext } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';
import { integer } from '../../kit/service/route-description';
import { connectSessionWorkers, sessionWorkersFields, type SessionWorkers } from '../../kit/worker/session-workers';
import { ServiceError } from '../../kit/errors';
import { formatInstant } from '../../kit/timestamp';
import { type AadhaarCaptchaAnswer__Output } from '../../workers/generated/identity/identity/v1/AadhaarCaptchaAnswer';
import { type AadhaarCaptchaRequest } from '../../workers/generated/identity/identity/v1/AadhaarCaptchaRequest';
import { type AadhaarOtpRequest } from '../../workers/generated/identity/identity/v1/AadhaarOtpRequest';
import { type AadhaarRecord__Output } from '../../workers/generated/identity/identity/v1/AadhaarRecord';
import { type AadhaarStartRequest } from '../../workers/generated/identity/identity/v1/AadhaarStartRequest';
import { type Captcha__Output } from '../../workers/generated/identity/identity/v1/Captcha';
import { aadhaar } from './facts';
import { captchaInput, captchaOutput, captchaStep, otpInput, otpOutput, startInput } from './schema';

type AadhaarWorkerMethods = {
  AadhaarStart: { request: AadhaarStartRequest; response: Captcha__Output };
  AadhaarCaptcha: { request: AadhaarCaptchaRequest; response: AadhaarCaptchaAnswer__Output };
  AadhaarOtp: { request: AadhaarOtpRequest; response: AadhaarRecord__Output };
};

interface AadhaarDeps {
  readonly workers: SessionWorkers<AadhaarWorkerMethods>;
}

/** Copies the wait of a throttled call into the header. */
async function withRetryAfter<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    const seconds = error instanceof ServiceError ? error.options.members?.retry_after : undefined;
    if (!(error instanceof ServiceError) || typeof seconds !== 'number') throw error;
    throw new ServiceError(error.problem, { ...error.options, headers: { ...error.options.headers, 'Retry-After': String(seconds) } });
  }
}

function captchaAnswer({ sessionId, image }: Captcha__Output, message: string): z.input<typeof captchaStep> {
  return { status: 'captcha', message, sessionId, captcha_base64: image.toString('base64') };
}

/** The worker gets the number. This process keeps it nowhere. */
async function start(
  { aadhaar }: z.output<typeof startInput>,
  context: CallContext,
  deps: AadhaarDeps,
): Promise<z.input<typeof captchaStep>> {
  const captcha = await withRetryAfter(deps.workers.start('AadhaarStart', { aadhaar }, { context, idOf: ({ sessionId }) => sessionId }));
  return captchaAnswer(captcha, 'Enter the captcha code shown in the image.');
}

/** A rejected captcha is a 200 with the next captcha. */
async function submitCaptcha(
  { sessionId, captcha }: z.output<typeof captchaInput>,
  context: CallContext,
  deps: AadhaarDeps,
): Promise<z.input<typeof captchaOutput>> {
  const answer = await withRetryAfter(deps.workers.next('AadhaarCaptcha', { sessionId, captcha }, { context, sessionId }));
  if (answer.captcha) return captchaAnswer(answer.captcha, 'The captcha was not accepted. Enter the code of the new image.');
  return { status: 'otp', message: 'Enter the OTP that was sent to the registered mobile number.', sessionId };
}

async function submitOtp(
  { sessionId, otp }: z.output<typeof otpInput>,
  context: CallContext,
  deps: AadhaarDeps,
): Promise<z.input<typeof otpOutput>> {
  const record = await deps.workers.next('AadhaarOtp', { sessionId, otp }, { context, sessionId });
  return {
    status: 'success',
    message: 'The Aadhaar number is verified.',
    sessionId,
    data: {
      name: record.name,
      date_of_birth: record.dateOfBirth ?? null,
      gender: record.gender ?? null,
      care_of: record.careOf ?? null,
      address: record.address,
      photo_base64: record.photoBase64 ?? null,
      masked_aadhaar: record.maskedAadhaar,
      reference_id: record.referenceId ?? null,
      verified_at: formatInstant(context.clock.now()),
    },
  };
}

const aadhaarSettings = z.object(sessionWorkersFields);
type AadhaarSettings = z.output<typeof aadhaarSettings>;

/** Ten minutes for the captcha, ten for the OTP, and ten in which an expired OTP is still reported as expired. */
const SESSION_LIFETIME_MS = 30 * 60_000;

/** URLs end up in logs and histories. */
const NEVER_IN_URL = ['aadhaar', 'otp'];

const AFTER_FAILURE =
  'Do not simply send a failed step again: each OTP is sent once. After 502 the session continues, but the captcha or OTP may be used up. ' +
  'After 504 it has ended: start a new one.';

/** The workers, and the registry of which worker owns which session. */
export function createAadhaarDeps(tools: ServiceTools<AadhaarSettings>): AadhaarDeps {
  return { workers: connectSessionWorkers<AadhaarWorkerMethods>(tools, SESSION_LIFETIME_MS) };
}

/** Header of the responses to steps that send an OTP. */
const OTP_WAIT = { 400: { 'Retry-After': integer('For `otp_throttled`: seconds until another OTP may be requested.') } };
const IN_SESSION = 'Send the `sessionId` of the previous step.';

const startRoute = defineRoute({
  method: 'ANY',
  path: '/aadhaar/start',
  does: 'Opens a session for one Aadhaar number and returns its `sessionId` and a captcha. The session ends after ten minutes.',
  input: startInput,
  output: captchaStep,
  fails: ['otp_throttled', 'number_unknown'],
  headers: OTP_WAIT,
  example: { sends: ['aadhaar'] },
  bodyOnlyFields: NEVER_IN_URL,
  handler: (input, context, deps: AadhaarDeps) => start(input, context, deps),
});

const captchaRoute = defineRoute({
  method: 'ANY',
  path: '/aadhaar/captcha',
  does: `Sends the solution of the captcha. If it is correct, the holder of the number receives a one-time password. ${IN_SESSION}`,
  notes: AFTER_FAILURE,
  input: captchaInput,
  output: captchaOutput,
  fails: ['session_expired', 'session_busy', 'invalid_sequence', 'attempts_exhausted', 'otp_throttled', 'number_unknown'],
  headers: OTP_WAIT,
  example: { after: [startRoute], sends: ['captcha'] },
  bodyOnlyFields: NEVER_IN_URL,
  handler: (input, context, deps: AadhaarDeps) => submitCaptcha(input, context, deps),
});

const otpRoute = defineRoute({
  method: 'ANY',
  path: '/aadhaar/otp',
  does: `Sends the one-time password and returns the record of its holder. The number itself stays masked. ${IN_SESSION}`,
  notes: AFTER_FAILURE,
  input: otpInput,
  output: otpOutput,
  fails: ['session_expired', 'session_busy', 'invalid_sequence', 'attempts_exhausted', 'otp_invalid', 'otp_expired'],
  example: { after: [startRoute, captchaRoute], sends: ['otp'] },
  bodyOnlyFields: NEVER_IN_URL,
  handler: (input, context, deps: AadhaarDeps) => submitOtp(input, context, deps),
});

/** Verification of an Aadhaar number by captcha and OTP. Lawful, authorised use only. */
export const aadhaarService = defineService<AadhaarDeps, AadhaarSettings>({
  ...aadhaar,
  settings: aadhaarSettings,
  createDeps: createAadhaarDeps,
  checkReady: (deps) => deps.workers.checkReady(),
  hasWorkers: (deps) => deps.workers.hasWorkers,
  close: (deps) => deps.workers.close(),
  routes: [{ ...indexRoute('ANY', '/aadhaar'), bodyOnlyFields: NEVER_IN_URL }, startRoute, captchaRoute, otpRoute],
});
