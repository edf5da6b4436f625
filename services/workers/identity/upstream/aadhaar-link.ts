import { parseHolderRecord } from './holder-record';
import { knownErrorOf, parseCaptchaFrame } from './link-answers';
import { type UpstreamLink } from './upstream-link';
import { type AadhaarUpstream } from './upstreams';

/** Aadhaar verification over the WebSocket link. */
export function createAadhaarLink(link: Pick<UpstreamLink, 'start' | 'exchange'>): AadhaarUpstream {
  return {
    start: async (aadhaar, { signal }) => {
      const frame = await link.start({ type: 'start', aadhaar }, signal);
      if (frame.type === 'captcha') return parseCaptchaFrame(frame);
      knownErrorOf(frame, ['not_found']);
      return undefined;
    },
    checkCaptcha: async (sessionId, captcha, { signal }) => {
      const frame = await link.exchange({ type: 'captcha', sessionId, captcha }, signal);
      if (frame.type === 'otp_required') return { kind: 'otp_sent' };
      if (frame.type === 'captcha') return { kind: 'captcha_rejected', image: parseCaptchaFrame(frame).image };
      const code = knownErrorOf(frame, ['captcha_rejected', 'session_unknown', 'not_found']);
      if (code !== 'captcha_rejected') return { kind: code };
      const next = await link.exchange({ type: 'refresh', sessionId }, signal);
      if (next.type === 'captcha') return { kind: 'captcha_rejected', image: parseCaptchaFrame(next).image };
      return { kind: knownErrorOf(next, ['session_unknown']) };
    },
    checkOtp: async (sessionId, otp, { signal }) => {
      const frame = await link.exchange({ type: 'otp', sessionId, otp }, signal);
      if (frame.type === 'result') return { kind: 'record', record: parseHolderRecord(frame.payload) };
      return { kind: knownErrorOf(frame, ['otp_invalid', 'otp_expired', 'session_unknown']) };
    },
  };
}
