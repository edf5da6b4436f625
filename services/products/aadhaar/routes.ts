import { z } from 'zod';
import { defineRoute, defineService, type ServiceTools } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';
import { integer } from '../../kit/service/route-description';
import { connectSessionWorkers, sessionWorkersFields } from '../../kit/worker/session-workers';
import { aadhaar } from './facts';
import { captchaInput, captchaOutput, captchaStep, otpInput, otpOutput, startInput } from './schema';
import { start, submitCaptcha, submitOtp, type AadhaarDeps, type AadhaarWorkerMethods } from './verify';

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
