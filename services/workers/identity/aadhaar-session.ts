import { type StepDecision, type Fault, type StepSettlement } from './refusals';

/** Figures of the published contract, section api-aadhaar. The contract does not limit OTP attempts; three is our choice. */
export const AADHAAR_LIMITS = { captchaLifetimeMs: 10 * 60_000, otpLifetimeMs: 10 * 60_000, wrongCaptchas: 3, wrongOtps: 3 } as const;
/** Milliseconds for which a session remembers that its OTP expired, to report that instead of "no such session". */
const REMEMBERED_MS = 10 * 60_000;
/** Maximum age of a session in milliseconds. */
export const AADHAAR_LONGEST_MS = AADHAAR_LIMITS.captchaLifetimeMs + AADHAAR_LIMITS.otpLifetimeMs + REMEMBERED_MS;

/** A session does not hold the full number. The number goes to the upstream's adapter once, at the start. */
export interface AadhaarSession {
  readonly state: 'captcha' | 'otp';
  /** True while a step is running. */
  readonly busy: boolean;
  readonly upstreamId: string;
  /** Monotonic milliseconds of the start, or of sending the OTP once it was sent. */
  readonly stateSinceMs: number;
  readonly wrongCaptchas: number;
  readonly wrongOtps: number;
  readonly lastFour: string;
  /** Keyed HMAC of the number. */
  readonly numberKey: string;
}

export type AadhaarCaptchaOutcome = { readonly kind: 'otp_sent' | 'captcha_rejected' | 'session_unknown' | 'not_found' } | Fault;
export type AadhaarOtpOutcome = { readonly kind: 'record' | 'otp_invalid' | 'otp_expired' | 'session_unknown' } | Fault;

export interface AadhaarOpening {
  readonly upstreamId: string;
  readonly lastFour: string;
  readonly numberKey: string;
}

export function openAadhaarSession(opening: AadhaarOpening, nowMs: number): AadhaarSession {
  return { ...opening, state: 'captcha', busy: false, stateSinceMs: nowMs, wrongCaptchas: 0, wrongOtps: 0 };
}

export function admitAadhaarCaptcha(session: AadhaarSession, nowMs: number): StepDecision<AadhaarSession> {
  const age = nowMs - session.stateSinceMs;
  const lifetime = session.state === 'captcha' ? AADHAAR_LIMITS.captchaLifetimeMs : AADHAAR_LIMITS.otpLifetimeMs;
  if (age >= lifetime) return { admitted: false, session: undefined, refusal: { code: 'session_expired' } };
  if (session.busy) return { admitted: false, session, refusal: { code: 'session_busy' } };
  if (session.state !== 'captcha') return { admitted: false, session, refusal: { code: 'invalid_sequence' } };
  return { admitted: true, session: { ...session, busy: true } };
}

export function settleAadhaarCaptcha(
  session: AadhaarSession,
  outcome: AadhaarCaptchaOutcome,
  nowMs: number,
): StepSettlement<AadhaarSession> {
  const idle = { ...session, busy: false };
  switch (outcome.kind) {
    case 'otp_sent':
      return { session: { ...idle, state: 'otp', stateSinceMs: nowMs } };
    case 'captcha_rejected': {
      const wrongCaptchas = session.wrongCaptchas + 1;
      if (wrongCaptchas >= AADHAAR_LIMITS.wrongCaptchas) return { session: undefined, refusal: { code: 'attempts_exhausted' } };
      return { session: { ...idle, wrongCaptchas } };
    }
    case 'session_unknown':
      return { session: undefined, refusal: { code: 'session_expired' } };
    case 'not_found':
      return { session: undefined, refusal: { code: 'not_found' } };
    case 'failed':
      return { session: idle };
    case 'lost':
      return { session: undefined };
  }
}

export function admitAadhaarOtp(session: AadhaarSession, nowMs: number): StepDecision<AadhaarSession> {
  const age = nowMs - session.stateSinceMs;
  if (session.state === 'captcha') {
    if (age >= AADHAAR_LIMITS.captchaLifetimeMs) return { admitted: false, session: undefined, refusal: { code: 'session_expired' } };
    return { admitted: false, session, refusal: { code: session.busy ? 'session_busy' : 'invalid_sequence' } };
  }
  if (age >= AADHAAR_LIMITS.otpLifetimeMs) return { admitted: false, session: undefined, refusal: { code: 'otp_expired' } };
  if (session.busy) return { admitted: false, session, refusal: { code: 'session_busy' } };
  return { admitted: true, session: { ...session, busy: true } };
}

export function settleAadhaarOtp(session: AadhaarSession, outcome: AadhaarOtpOutcome): StepSettlement<AadhaarSession> {
  const idle = { ...session, busy: false };
  switch (outcome.kind) {
    case 'record':
      return { session: undefined };
    case 'otp_invalid': {
      const wrongOtps = session.wrongOtps + 1;
      const attemptsLeft = AADHAAR_LIMITS.wrongOtps - wrongOtps;
      if (attemptsLeft <= 0) return { session: undefined, refusal: { code: 'attempts_exhausted' } };
      return { session: { ...idle, wrongOtps }, refusal: { code: 'otp_invalid', attemptsLeft } };
    }
    case 'otp_expired':
      return { session: undefined, refusal: { code: 'otp_expired' } };
    case 'session_unknown':
      return { session: undefined, refusal: { code: 'session_expired' } };
    case 'failed':
      return { session: idle };
    case 'lost':
      return { session: undefined };
  }
}
