import { z } from 'zod';
import { badAnswer, knownErrorOf, parseCaptchaFrame } from './link-answers';
import { type LinkFrame, type UpstreamLink } from './upstream-link';
import { type AadhaarUpstream, type HolderRecord } from './upstreams';

const text = z.string().max(500).nullish();

/** Members that are not named here are dropped: nothing unknown about a person is passed on. */
const resultFrame = z.object({
  payload: z.object({
    name: z.string().min(1).max(500),
    date_of_birth: text,
    gender: text,
    care_of: text,
    address: z.record(z.string(), z.unknown()).nullish(),
    photo_base64: z
      .string()
      .regex(/^[A-Za-z0-9+/]*={0,2}$/)
      .nullish(),
    reference_id: text,
  }),
});

const ADDRESS_FIELD = /^[a-z][a-z0-9_]{0,30}$/;
const MOST_ADDRESS_FIELDS = 30;

function addressOf(fields: Readonly<Record<string, unknown>>): Record<string, string> {
  const usable = Object.entries(fields).filter(
    (entry): entry is [string, string] => ADDRESS_FIELD.test(entry[0]) && typeof entry[1] === 'string' && entry[1].length <= 500,
  );
  return Object.fromEntries(usable.slice(0, MOST_ADDRESS_FIELDS));
}

function recordOf(frame: LinkFrame): HolderRecord {
  const parsed = resultFrame.safeParse(frame);
  if (!parsed.success) throw badAnswer('a result has the wrong form');
  const { payload } = parsed.data;
  return {
    name: payload.name,
    dateOfBirth: payload.date_of_birth ?? undefined,
    gender: payload.gender ?? undefined,
    careOf: payload.care_of ?? undefined,
    address: addressOf(payload.address ?? {}),
    photoBase64: payload.photo_base64 ?? undefined,
    referenceId: payload.reference_id ?? undefined,
  };
}

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
      if (frame.type === 'result') return { kind: 'record', record: recordOf(frame) };
      return { kind: knownErrorOf(frame, ['otp_invalid', 'otp_expired', 'session_unknown']) };
    },
  };
}
