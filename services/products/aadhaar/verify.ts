import { type z } from 'zod';
import { type CallContext } from '../../kit/service/define-service';
import { ServiceError } from '../../kit/errors';
import { type SessionWorkers } from '../../kit/worker/session-workers';
import { formatInstant } from '../../kit/timestamp';
import { type AadhaarCaptchaAnswer__Output } from '../../workers/generated/identity/identity/v1/AadhaarCaptchaAnswer';
import { type AadhaarCaptchaRequest } from '../../workers/generated/identity/identity/v1/AadhaarCaptchaRequest';
import { type AadhaarOtpRequest } from '../../workers/generated/identity/identity/v1/AadhaarOtpRequest';
import { type AadhaarRecord__Output } from '../../workers/generated/identity/identity/v1/AadhaarRecord';
import { type AadhaarStartRequest } from '../../workers/generated/identity/identity/v1/AadhaarStartRequest';
import { type Captcha__Output } from '../../workers/generated/identity/identity/v1/Captcha';
import { type captchaInput, type captchaOutput, type captchaStep, type otpInput, type otpOutput, type startInput } from './schema';

export type AadhaarWorkerMethods = {
  AadhaarStart: { request: AadhaarStartRequest; response: Captcha__Output };
  AadhaarCaptcha: { request: AadhaarCaptchaRequest; response: AadhaarCaptchaAnswer__Output };
  AadhaarOtp: { request: AadhaarOtpRequest; response: AadhaarRecord__Output };
};

export interface AadhaarDeps {
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
export async function start(
  { aadhaar }: z.output<typeof startInput>,
  context: CallContext,
  deps: AadhaarDeps,
): Promise<z.input<typeof captchaStep>> {
  const captcha = await withRetryAfter(deps.workers.start('AadhaarStart', { aadhaar }, { context, idOf: ({ sessionId }) => sessionId }));
  return captchaAnswer(captcha, 'Enter the captcha code shown in the image.');
}

/** A rejected captcha is a 200 with the next captcha. */
export async function submitCaptcha(
  { sessionId, captcha }: z.output<typeof captchaInput>,
  context: CallContext,
  deps: AadhaarDeps,
): Promise<z.input<typeof captchaOutput>> {
  const answer = await withRetryAfter(deps.workers.next('AadhaarCaptcha', { sessionId, captcha }, { context, sessionId }));
  if (answer.captcha) return captchaAnswer(answer.captcha, 'The captcha was not accepted. Enter the code of the new image.');
  return { status: 'otp', message: 'Enter the OTP that was sent to the registered mobile number.', sessionId };
}

export async function submitOtp(
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
