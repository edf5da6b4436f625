import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock, type KeyMode } from '../../../../plugins/core/ports';
import { AADHAAR_LIMITS } from '../aadhaar-session';
import { isCaptchaSolved } from '../captcha/captcha-text';
import { drawCaptcha } from '../captcha/draw-captcha';
import { type AadhaarProviderClient } from './aadhaar-provider-client';
import { isSettled } from './source-failure';
import { type AadhaarCaptchaCheck, type AadhaarUpstream, type SourceCall } from './upstreams';

/**
 * Returns the texts of a session's captchas.
 * @param index number of earlier captchas, from 0
 */
export type CaptchaTexts = (index: number) => string;

export interface AadhaarProviderOptions {
  readonly provider: AadhaarProviderClient;
  readonly captchas: Readonly<Record<KeyMode, CaptchaTexts>>;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly mostSessions: number;
}

/** State before the OTP. The number is stored only here. A captcha that was tried is void, whatever the result. */
interface Waiting {
  readonly aadhaar: string;
  /** The captcha on display; undefined once it was tried. */
  readonly text: string | undefined;
  readonly captchas: number;
  readonly wrongCaptchas: number;
}

/** State after the OTP was sent. The number is gone. */
interface Sent {
  readonly reference: string;
}

/**
 * Verifies with a licensed OTP provider. Providers use no captcha, so each OTP requires one of ours: otherwise a script could make
 * telephones ring. Sessions stay in this process for as long as their next step may take.
 */
export class AadhaarProvider implements AadhaarUpstream {
  private readonly sessions: LRUCache<string, Waiting | Sent>;

  constructor(private readonly options: AadhaarProviderOptions) {
    const { clock, mostSessions } = options;
    // The timers of `ttlAutopurge` remove a number from memory even if its session is never used again.
    this.sessions = new LRUCache<string, Waiting | Sent>({
      max: mostSessions,
      ttl: AADHAAR_LIMITS.captchaLifetimeMs,
      ttlAutopurge: true,
      ttlResolution: 0,
      noUpdateTTL: true,
      perf: { now: () => clock.monotonic() },
    });
  }

  /** Number of sessions, with and without a number. */
  get size(): number {
    return this.sessions.size;
  }

  async start(aadhaar: string, call: SourceCall): ReturnType<AadhaarUpstream['start']> {
    const upstreamId = randomUUID();
    return { upstreamId, image: await this.show(upstreamId, { aadhaar, text: undefined, captchas: 0, wrongCaptchas: 0 }, call.mode) };
  }

  async checkCaptcha(upstreamId: string, solution: string, call: SourceCall): Promise<AadhaarCaptchaCheck> {
    const session = this.sessions.get(upstreamId);
    if (!session || 'reference' in session) return { kind: 'session_unknown' };
    const { text, aadhaar } = session;
    if (text === undefined || !isCaptchaSolved(text, solution)) return this.reject(upstreamId, session, call.mode);
    this.sessions.set(upstreamId, { ...session, text: undefined });
    try {
      const answer = await this.options.provider.requestOtp(aadhaar, call);
      this.sessions.delete(upstreamId);
      if (answer.kind === 'not_found') return answer;
      this.sessions.set(upstreamId, { reference: answer.reference }, { ttl: AADHAAR_LIMITS.otpLifetimeMs });
      return { kind: 'otp_sent' };
    } catch (error) {
      this.forgetUnlessSettled(upstreamId, error);
      throw error;
    }
  }

  async checkOtp(upstreamId: string, otp: string, call: SourceCall): ReturnType<AadhaarUpstream['checkOtp']> {
    const session = this.sessions.get(upstreamId);
    if (!session || !('reference' in session)) return { kind: 'session_unknown' };
    try {
      const check = await this.options.provider.verify(session.reference, otp, call);
      if (check.kind !== 'otp_invalid') this.sessions.delete(upstreamId);
      return check;
    } catch (error) {
      this.forgetUnlessSettled(upstreamId, error);
      throw error;
    }
  }

  /** Forgets every session. */
  close(): void {
    this.sessions.clear();
  }

  /** The session machine ends a session whose step may still have an effect, so its state is no longer needed. */
  private forgetUnlessSettled(upstreamId: string, error: unknown): void {
    if (!isSettled(error)) this.sessions.delete(upstreamId);
  }

  private async reject(upstreamId: string, session: Waiting, mode: KeyMode): Promise<AadhaarCaptchaCheck> {
    const wrongCaptchas = session.wrongCaptchas + 1;
    const image = await this.show(upstreamId, { ...session, wrongCaptchas }, mode);
    // The session machine ends the session after this attempt.
    if (wrongCaptchas >= AADHAAR_LIMITS.wrongCaptchas) this.sessions.delete(upstreamId);
    return { kind: 'captcha_rejected', image };
  }

  private show(upstreamId: string, session: Waiting, mode: KeyMode): ReturnType<typeof drawCaptcha> {
    const text = this.options.captchas[mode](session.captchas);
    this.sessions.set(upstreamId, { ...session, text, captchas: session.captchas + 1 });
    return drawCaptcha(text);
  }
}
