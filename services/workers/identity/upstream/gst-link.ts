import { badAnswer, knownErrorOf, parseCaptchaFrame } from './link-answers';
import { type UpstreamLink } from './upstream-link';
import { type GstUpstream } from './upstreams';
import { z } from 'zod';

const resultFrame = z.object({ payload: z.record(z.string(), z.unknown()) });

/** A record of somebody else must not reach the caller, whatever went wrong at the upstream. */
function checkSubject(payload: Readonly<Record<string, unknown>>, gstin: string): void {
  const subject = payload.gstin;
  if (subject === undefined) return;
  if (typeof subject !== 'string' || subject.toUpperCase() !== gstin) throw badAnswer('the record is not the one that was asked for');
}

/** Tax-registration records over the WebSocket link. */
export function createGstLink(link: Pick<UpstreamLink, 'start' | 'exchange'>): GstUpstream {
  return {
    start: async ({ signal }) => {
      const frame = await link.start({ type: 'start' }, signal);
      if (frame.type !== 'captcha') knownErrorOf(frame, []);
      return parseCaptchaFrame(frame);
    },
    refresh: async (sessionId, { signal }) => {
      const frame = await link.exchange({ type: 'refresh', sessionId }, signal);
      if (frame.type === 'captcha') return { kind: 'captcha', image: parseCaptchaFrame(frame).image };
      return { kind: knownErrorOf(frame, ['session_unknown']) };
    },
    submit: async (sessionId, { gstin, captcha }, { signal }) => {
      const frame = await link.exchange({ type: 'data', sessionId, gstin, captcha }, signal);
      if (frame.type !== 'result') return { kind: knownErrorOf(frame, ['captcha_rejected', 'not_found', 'session_unknown']) };
      const parsed = resultFrame.safeParse(frame);
      if (!parsed.success) throw badAnswer('a result has no payload');
      checkSubject(parsed.data.payload, gstin);
      return { kind: 'record', payload: parsed.data.payload };
    },
  };
}
