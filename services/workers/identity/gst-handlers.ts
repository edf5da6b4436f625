import { type Clock } from '../../../plugins/core/ports';
import { type WorkerCall } from '../../kit/worker/worker-call';
import { type Captcha } from '../generated/identity/identity/v1/Captcha';
import { type GstRecord } from '../generated/identity/identity/v1/GstRecord';
import { type GstSubmitRequest__Output } from '../generated/identity/identity/v1/GstSubmitRequest';
import { type SessionRequest__Output } from '../generated/identity/identity/v1/SessionRequest';
import {
  admitGstRefresh,
  admitGstSubmit,
  GST_LIMITS,
  openGstSession,
  settleGstRefresh,
  settleGstSubmit,
  type GstSession,
} from './gst-session';
import { runStep, type StepTarget } from './run-step';
import { SessionTable, type SessionTableOptions } from './session-table';
import { exchangeError, isSettled } from './upstream/source-failure';
import { type GstCaptcha, type GstSubmission, type GstUpstream, type SourceCall } from './upstream/upstreams';
import { type CaptchaImage } from './captcha/draw-captcha';

/** The identity and signal of a call. */
export type IdentityCall = Pick<WorkerCall, 'subscriptionId' | 'mode' | 'signal'>;

export interface GstHandlersOptions {
  readonly upstream: GstUpstream;
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly sessions: Pick<SessionTableOptions, 'most' | 'mostOfOne'>;
  /** Receives a function that counts open sessions. */
  readonly watchSessions?: (read: () => number) => void;
}

export interface GstHandlers {
  GstStart(this: void, request: object, call: IdentityCall): Promise<Captcha>;
  GstRefresh(this: void, request: SessionRequest__Output, call: IdentityCall): Promise<Captcha>;
  GstSubmit(this: void, request: GstSubmitRequest__Output, call: IdentityCall): Promise<GstRecord>;
}

type Submitted = GstSubmission & { readonly next?: CaptchaImage | undefined };

function captchaOf(sessionId: string, { bytes, mediaType }: CaptchaImage): Captcha {
  return { sessionId, image: bytes, mediaType };
}

/** The captcha in the form that `GET /gst/start` sends. */
function captchaMember(sessionId: string, { bytes, mediaType }: CaptchaImage): Record<string, string> {
  return { sessionId, image: `data:${mediaType};base64,${bytes.toString('base64')}` };
}

/** Submits an entry. If the captcha was rejected and the caller may try again, it also fetches the next captcha. */
async function submit(upstream: GstUpstream, session: GstSession, entry: GstSubmitRequest__Output, call: SourceCall): Promise<Submitted> {
  const submission = await upstream.submit(session.upstreamId, { gstin: entry.gstin, captcha: entry.captcha }, call);
  if (submission.kind !== 'captcha_rejected' || session.wrongCaptchas + 1 >= GST_LIMITS.wrongCaptchas) return submission;
  try {
    const next = await upstream.refresh(session.upstreamId, call);
    return next.kind === 'captcha' ? { ...submission, next: next.image } : { kind: 'session_unknown' };
  } catch (error) {
    // The rejection counts even if no new captcha arrived. The caller can request a new one.
    if (isSettled(error)) return submission;
    throw error;
  }
}

/** Handlers of sessions for tax-registration records. Sessions live in this process. */
export function createGstHandlers({ upstream, clock, sessions, watchSessions }: GstHandlersOptions): GstHandlers {
  const now = (): number => clock.monotonic();
  const table = new SessionTable<GstSession>({ longestMs: GST_LIMITS.lifetimeMs, ...sessions, now });
  watchSessions?.(() => table.size);
  const target = (id: string, owner: IdentityCall): StepTarget<GstSession> => ({ table, id, owner, now });
  return {
    GstStart: async (_request, call) => {
      try {
        const opened = await table.open(call, async () => {
          const { upstreamId, image } = await upstream.start(call);
          return { session: openGstSession(upstreamId, now()), image };
        });
        return captchaOf(opened.id, opened.image);
      } catch (error) {
        throw exchangeError(error);
      }
    },
    GstRefresh: async ({ sessionId }, call) => {
      const outcome = await runStep<GstSession, GstCaptcha>(target(sessionId, call), {
        admit: admitGstRefresh,
        exchange: (session) => upstream.refresh(session.upstreamId, call),
        settle: settleGstRefresh,
      });
      if (outcome.kind !== 'captcha') throw new Error('the machine let an unknown session pass');
      return captchaOf(sessionId, outcome.image);
    },
    GstSubmit: async (request, call) => {
      const outcome = await runStep<GstSession, Submitted>(target(request.sessionId, call), {
        admit: admitGstSubmit,
        exchange: (session) => submit(upstream, session, request, call),
        settle: settleGstSubmit,
        members: ({ next }) => (next ? { captcha: captchaMember(request.sessionId, next) } : {}),
      });
      if (outcome.kind !== 'record') throw new Error('the machine let a refused submission pass');
      return { payloadJson: outcome.payloadJson };
    },
  };
}
