import { type StepDecision, type Fault, type StepSettlement } from './refusals';

/** Figures of the published contract, section api-gst. */
export const GST_LIMITS = { lifetimeMs: 5 * 60_000, wrongCaptchas: 3, refreshes: 5 } as const;

/** A session is removed once it is done, expired or exhausted. */
export interface GstSession {
  readonly state: 'captcha_pending' | 'refreshing' | 'submitted';
  /** The upstream's id of the session. */
  readonly upstreamId: string;
  /** Monotonic milliseconds. */
  readonly startedAtMs: number;
  readonly wrongCaptchas: number;
  readonly refreshes: number;
}

export type GstSubmitOutcome = { readonly kind: 'record' | 'captcha_rejected' | 'not_found' | 'session_unknown' } | Fault;
export type GstRefreshOutcome = { readonly kind: 'captcha' | 'session_unknown' } | Fault;

export function openGstSession(upstreamId: string, nowMs: number): GstSession {
  return { state: 'captcha_pending', upstreamId, startedAtMs: nowMs, wrongCaptchas: 0, refreshes: 0 };
}

function admit(session: GstSession, nowMs: number, next: 'refreshing' | 'submitted'): StepDecision<GstSession> {
  if (nowMs - session.startedAtMs >= GST_LIMITS.lifetimeMs) {
    return { admitted: false, session: undefined, refusal: { code: 'session_expired' } };
  }
  if (session.state !== 'captcha_pending') return { admitted: false, session, refusal: { code: 'session_busy' } };
  return { admitted: true, session: { ...session, state: next } };
}

export function admitGstRefresh(session: GstSession, nowMs: number): StepDecision<GstSession> {
  const decision = admit(session, nowMs, 'refreshing');
  if (decision.admitted && session.refreshes >= GST_LIMITS.refreshes) {
    return { admitted: false, session, refusal: { code: 'refreshes_exhausted' } };
  }
  return decision;
}

export function settleGstRefresh(session: GstSession, outcome: GstRefreshOutcome): StepSettlement<GstSession> {
  const pending = { ...session, state: 'captcha_pending' } as const;
  switch (outcome.kind) {
    case 'captcha':
      return { session: { ...pending, refreshes: session.refreshes + 1 } };
    case 'session_unknown':
      return { session: undefined, refusal: { code: 'session_expired' } };
    case 'failed':
      return { session: pending };
    case 'lost':
      return { session: undefined };
  }
}

/** Admits one submit at a time. A second one is refused until the first is settled. */
export function admitGstSubmit(session: GstSession, nowMs: number): StepDecision<GstSession> {
  return admit(session, nowMs, 'submitted');
}

export function settleGstSubmit(session: GstSession, outcome: GstSubmitOutcome): StepSettlement<GstSession> {
  switch (outcome.kind) {
    case 'record':
      return { session: undefined };
    case 'not_found':
      return { session: undefined, refusal: { code: 'not_found' } };
    case 'session_unknown':
      return { session: undefined, refusal: { code: 'session_expired' } };
    case 'captcha_rejected': {
      const wrongCaptchas = session.wrongCaptchas + 1;
      const attemptsLeft = GST_LIMITS.wrongCaptchas - wrongCaptchas;
      if (attemptsLeft <= 0) return { session: undefined, refusal: { code: 'attempts_exhausted' } };
      return { session: { ...session, state: 'captcha_pending', wrongCaptchas }, refusal: { code: 'captcha_rejected', attemptsLeft } };
    }
    case 'failed':
      return { session: { ...session, state: 'captcha_pending' } };
    case 'lost':
      return { session: undefined };
  }
}
