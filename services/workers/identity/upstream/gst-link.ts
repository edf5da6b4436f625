import { checkGstRecord } from './gst-record';
import { knownErrorOf, parseCaptchaFrame } from './link-answers';
import { badAnswer } from './source-failure';
import { type UpstreamLink } from './upstream-link';
import { type GstUpstream } from './upstreams';

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
      checkGstRecord(frame.payload, gstin);
      if (frame.payloadJson === undefined) throw badAnswer('a result has no payload');
      return { kind: 'record', payloadJson: frame.payloadJson };
    },
  };
}
