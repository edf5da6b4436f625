import { z } from 'zod';
import { defineRoute, defineService, type ServiceTools } from '../../kit/service/define-service';
import { indexRoute } from '../../kit/service/index-route';
import { connectSessionWorkers, sessionWorkersFields } from '../../kit/worker/session-workers';
import { captchaInput, captchaOutput, captchaStep, otpInput, otpOutput, startInput } from './schema';
import { start, submitCaptcha, submitOtp, type AadhaarDeps, type AadhaarWorkerMethods } from './verify';

const aadhaarSettings = z.object(sessionWorkersFields);
type AadhaarSettings = z.output<typeof aadhaarSettings>;

/** Ten minutes for the captcha, ten for the OTP, ten to be told that it expired. */
const SESSION_LIFETIME_MS = 30 * 60_000;

/** URLs end up in logs and histories. */
const NEVER_IN_URL = ['aadhaar', 'otp'];

const AFTER_FAILURE =
  'Do not simply send a failed step again: each OTP is sent once. After 502 the session goes on, but the captcha or OTP may be used up. ' +
  'After 504 it has ended: start a new one.';

/** The workers and the memory of who owns which session. */
export function createAadhaarDeps(tools: ServiceTools<AadhaarSettings>): AadhaarDeps {
  return { workers: connectSessionWorkers<AadhaarWorkerMethods>(tools, SESSION_LIFETIME_MS) };
}

/** Verification of an Aadhaar number by captcha and OTP. Lawful, authorised use only. */
export const aadhaarService = defineService<AadhaarDeps, AadhaarSettings>({
  name: 'aadhaar',
  products: ['api-aadhaar'],
  settings: aadhaarSettings,
  createDeps: createAadhaarDeps,
  checkReady: (deps) => deps.workers.checkReady(),
  hasWorkers: (deps) => deps.workers.hasWorkers,
  close: (deps) => deps.workers.close(),
  routes: [
    { ...indexRoute('ANY', '/aadhaar'), bodyOnlyFields: NEVER_IN_URL },
    defineRoute({
      method: 'ANY',
      path: '/aadhaar/start',
      input: startInput,
      output: captchaStep,
      bodyOnlyFields: NEVER_IN_URL,
      handler: (input, context, deps: AadhaarDeps) => start(input, context, deps),
    }),
    defineRoute({
      method: 'ANY',
      path: '/aadhaar/captcha',
      notes: AFTER_FAILURE,
      input: captchaInput,
      output: captchaOutput,
      bodyOnlyFields: NEVER_IN_URL,
      handler: (input, context, deps: AadhaarDeps) => submitCaptcha(input, context, deps),
    }),
    defineRoute({
      method: 'ANY',
      path: '/aadhaar/otp',
      notes: AFTER_FAILURE,
      input: otpInput,
      output: otpOutput,
      bodyOnlyFields: NEVER_IN_URL,
      handler: (input, context, deps: AadhaarDeps) => submitOtp(input, context, deps),
    }),
  ],
});
