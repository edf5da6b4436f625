import { type KeyMode } from '../../../../plugins/core/ports';
import { type CaptchaImage } from '../captcha/draw-captcha';

/** The caller that waits for an exchange. */
export interface SourceCall {
  readonly mode: KeyMode;
  /** Fires when no caller waits any more. */
  readonly signal: AbortSignal;
}

/** A session as the upstream opened it. */
export interface UpstreamSession {
  readonly upstreamId: string;
  readonly image: CaptchaImage;
}

export type GstSubmission =
  | { readonly kind: 'record'; /** The text of a JSON object as the upstream wrote it. */ readonly payloadJson: string }
  | { readonly kind: 'captcha_rejected' | 'not_found' | 'session_unknown' };

export type GstCaptcha = { readonly kind: 'captcha'; readonly image: CaptchaImage } | { readonly kind: 'session_unknown' };

/**
 * A source of tax-registration records behind a captcha. When the upstream certainly failed, methods throw a `SourceFailure`, or a
 * `ServiceError` that has one as its cause. After any other error (time-out, abort) a reply may still come.
 */
export interface GstUpstream {
  start(call: SourceCall): Promise<UpstreamSession>;
  /** Fetches a new captcha. The previous one is void. */
  refresh(upstreamId: string, call: SourceCall): Promise<GstCaptcha>;
  /** @param entry `gstin` in capitals */
  submit(upstreamId: string, entry: { gstin: string; captcha: string }, call: SourceCall): Promise<GstSubmission>;
}

export type AadhaarCaptchaCheck =
  | { readonly kind: 'otp_sent' | 'session_unknown' | 'not_found' }
  | { readonly kind: 'captcha_rejected'; /** The next captcha. */ readonly image: CaptchaImage };

/** The holder's record, in the upstream's wording. */
export interface HolderRecord {
  readonly name: string;
  readonly dateOfBirth: string | undefined;
  readonly gender: string | undefined;
  readonly careOf: string | undefined;
  readonly address: Readonly<Record<string, string>>;
  readonly photoBase64: string | undefined;
  readonly referenceId: string | undefined;
}

export type AadhaarOtpCheck =
  { readonly kind: 'record'; readonly record: HolderRecord } | { readonly kind: 'otp_invalid' | 'otp_expired' | 'session_unknown' };

/** A lawful source of Aadhaar verification by OTP, behind a captcha. Fails as {@link GstUpstream} does. */
export interface AadhaarUpstream {
  /** Opens a session. This is the only call with the full number. Undefined: the upstream does not know the number. */
  start(aadhaar: string, call: SourceCall): Promise<UpstreamSession | undefined>;
  /** Accepting a captcha makes the upstream send an OTP to the holder. */
  checkCaptcha(upstreamId: string, captcha: string, call: SourceCall): Promise<AadhaarCaptchaCheck>;
  checkOtp(upstreamId: string, otp: string, call: SourceCall): Promise<AadhaarOtpCheck>;
}
