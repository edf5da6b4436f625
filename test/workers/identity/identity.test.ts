import sharp from 'sharp';
import { isCaptchaSolved, randomCaptchaText, testCaptchaText } from '../../../services/workers/identity/captcha/captcha-text';
import { drawCaptcha } from '../../../services/workers/identity/captcha/draw-captcha';
import { CAPTCHA_ALPHABET, strokesOf } from '../../../services/workers/identity/captcha/glyphs';
import { CAPTCHA_TEXTS, captchaImage } from '../../../services/sandbox/identity/identity-captcha';
import {
  AADHAAR_LIMITS,
  type AadhaarSession,
  admitAadhaarCaptcha,
  admitAadhaarOtp,
  openAadhaarSession,
  settleAadhaarCaptcha,
  settleAadhaarOtp,
} from '../../../services/workers/identity/aadhaar-session';
import { type StepDecision } from '../../../services/workers/identity/refusals';
import {
  admitGstRefresh,
  admitGstSubmit,
  GST_LIMITS,
  type GstSession,
  openGstSession,
  settleGstRefresh,
  settleGstSubmit,
} from '../../../services/workers/identity/gst-session';
import { type SessionOwner, SessionTable } from '../../../services/workers/identity/session-table';
import { fc } from '../../support/fast-check';
import { readSettings } from '../../../plugins/core/settings';
import { identityWorkerSettings } from '../../../services/workers/identity/settings';
import { createLog } from '../../../services/kit/log';
import { UpstreamLink, type UpstreamLinkOptions } from '../../../services/workers/identity/upstream/upstream-link';
import { describeJsonLink } from '../../contracts/json-link';
import { eventually } from '../../support/eventually';
import { type Frame, startScriptedLink } from '../../support/scripted-link';

/** Share of dark pixels, 0 to 1. */
async function inkOf(bytes: Buffer): Promise<number> {
  const { data, info } = await sharp(bytes, { failOn: 'warning' }).greyscale().raw().toBuffer({ resolveWithObject: true });
  return data.filter((grey) => grey < 128).length / (info.width * info.height);
}

it('texts are five characters of an alphabet without look-alikes, and do not repeat', () => {
  const texts = Array.from({ length: 2_000 }, randomCaptchaText);
  for (const text of texts) expect(text).toMatch(new RegExp(`^[${CAPTCHA_ALPHABET}]{5}$`));
  expect(CAPTCHA_ALPHABET).not.toMatch(/[01OILQDSZBGVJ58]/);
  // 2,000 of 4 million: one pair is to be expected every other run, five pairs never.
  expect(new Set(texts).size).toBeGreaterThan(1_995);
  const used = new Set(texts.join(''));
  expect(used.size).toBe(CAPTCHA_ALPHABET.length);
});

it('every character is drawn, without a font, as dark strokes on white', async () => {
  for (const character of CAPTCHA_ALPHABET) {
    expect(strokesOf(character).flat().length).toBeGreaterThan(2);
    for (const [x, y] of strokesOf(character).flat()) expect([x >= 0 && x <= 4, y >= 0 && y <= 6]).toEqual([true, true]);
  }
  const images = await Promise.all((CAPTCHA_ALPHABET.match(/.{1,5}/g) ?? []).map(drawCaptcha));
  for (const { bytes, mediaType } of images) {
    const { format, height } = await sharp(bytes).metadata();
    expect([format, height, mediaType]).toEqual(['png', 72, 'image/png']);
    const ink = await inkOf(bytes);
    expect(ink).toBeGreaterThan(0.06);
    expect(ink).toBeLessThan(0.35);
  }
});

it('the same text looks different each time', async () => {
  const images = await Promise.all(Array.from({ length: 10 }, () => drawCaptcha('KX47M')));
  expect(new Set(images.map(({ bytes }) => bytes.toString('base64'))).size).toBe(10);
});

it('nothing but the strokes is in the picture: its text stands in no metadata', async () => {
  const { bytes } = await drawCaptcha('KX47M');
  expect(bytes.toString('latin1')).not.toContain('KX47M');
  const { exif, xmp, comments } = await sharp(bytes).metadata();
  expect([exif, xmp, comments]).toEqual([undefined, undefined, undefined]);
});

it('a solution is taken in small letters and with gaps, and in no other form', () => {
  for (const right of ['KX47M', 'kx47m', ' kx 47m ']) expect(isCaptchaSolved('KX47M', right)).toBe(true);
  for (const wrong of ['', 'KX47', 'KX47MM', 'KX47N', 'WRONG']) expect(isCaptchaSolved('KX47M', wrong)).toBe(false);
});

it('test keys see the captchas that the sandbox documents', () => {
  expect(CAPTCHA_TEXTS.map((_, index) => testCaptchaText(index))).toEqual([...CAPTCHA_TEXTS]);
  expect(testCaptchaText(CAPTCHA_TEXTS.length)).toBe(CAPTCHA_TEXTS[0]);
});

it('the captchas of the sandbox are PNGs that a decoder accepts, all different', async () => {
  const images = CAPTCHA_TEXTS.map((_, index) => captchaImage(index));
  expect(new Set(images).size).toBe(CAPTCHA_TEXTS.length);
  for (const image of images) {
    const { format, width, height } = await sharp(Buffer.from(image, 'base64'), { failOn: 'warning' }).metadata();
    expect([format, width, height]).toEqual(['png', 160, 48]);
  }
});

const freshAadhaar = (): AadhaarSession => openAadhaarSession({ upstreamId: 'u', lastFour: '0019', numberKey: 'k' }, 0);
const stepMs = fc.integer({ min: 0, max: 90_000 });

describe('a GST session', () => {
  const submitOutcome = fc.constantFrom('record', 'captcha_rejected', 'not_found', 'session_unknown', 'failed', 'lost');
  const refreshOutcome = fc.constantFrom('captcha', 'session_unknown', 'failed', 'lost');
  const move = fc.record({ step: fc.constantFrom('submit', 'refresh'), submitOutcome, refreshOutcome, afterMs: stepMs });

  it('whatever happens, it sends at most 3 wrong captchas and 5 refreshes, never after 5 minutes and never after its end', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        let session: GstSession | undefined = openGstSession('u', 0);
        let [now, wrong, refreshed, ended] = [0, 0, 0, false];
        for (const { step, submitOutcome: submitted, refreshOutcome: refresh, afterMs } of moves) {
          if (!session) break;
          now += afterMs;
          const decision: StepDecision<GstSession> = step === 'submit' ? admitGstSubmit(session, now) : admitGstRefresh(session, now);
          if (!decision.admitted) {
            session = decision.session;
            continue;
          }
          expect([ended, now < GST_LIMITS.lifetimeMs, wrong < 3]).toEqual([false, true, true]);
          if (step === 'refresh') {
            if (refresh === 'captcha') refreshed++;
            session = settleGstRefresh(decision.session, { kind: refresh }).session;
          } else {
            if (submitted === 'captcha_rejected') wrong++;
            session = settleGstSubmit(decision.session, { kind: submitted }).session;
            ended = ['record', 'not_found', 'session_unknown', 'lost'].includes(submitted);
            expect(session === undefined).toBe(ended || wrong === 3);
          }
          expect(refreshed).toBeLessThanOrEqual(5);
        }
      }),
    );
  });
});

describe('an Aadhaar session', () => {
  const captchaOutcome = fc.constantFrom('otp_sent', 'captcha_rejected', 'session_unknown', 'not_found', 'failed', 'lost');
  const otpOutcome = fc.constantFrom('record', 'otp_invalid', 'otp_expired', 'session_unknown', 'failed', 'lost');
  const move = fc.record({ step: fc.constantFrom('captcha', 'otp'), captchaOutcome, otpOutcome, afterMs: stepMs });

  it('whatever happens, an OTP is only sent on after an accepted captcha, in time, and at most 3 wrong ones of each', () => {
    fc.assert(
      fc.property(fc.array(move, { maxLength: 40 }), (moves) => {
        let session: AadhaarSession | undefined = freshAadhaar();
        let [now, since, wrongCaptchas, wrongOtps, sent] = [0, 0, 0, 0, false];
        for (const { step, captchaOutcome: solved, otpOutcome: entered, afterMs } of moves) {
          if (!session) break;
          now += afterMs;
          const decision: StepDecision<AadhaarSession> =
            step === 'captcha' ? admitAadhaarCaptcha(session, now) : admitAadhaarOtp(session, now);
          if (!decision.admitted) {
            session = decision.session;
            continue;
          }
          const lifetimeMs = step === 'captcha' ? AADHAAR_LIMITS.captchaLifetimeMs : AADHAAR_LIMITS.otpLifetimeMs;
          expect([sent, now - since < lifetimeMs]).toEqual([step === 'otp', true]);
          if (step === 'captcha') {
            if (solved === 'captcha_rejected') wrongCaptchas++;
            if (solved === 'otp_sent') [sent, since] = [true, now];
            session = settleAadhaarCaptcha(decision.session, { kind: solved }, now).session;
          } else {
            if (entered === 'otp_invalid') wrongOtps++;
            session = settleAadhaarOtp(decision.session, { kind: entered }).session;
            if (entered === 'record') expect(session).toBeUndefined();
          }
          if (wrongCaptchas === 3 || wrongOtps === 3) expect(session).toBeUndefined();
        }
      }),
    );
  });
});

it.each<[string, (now: number) => StepDecision<any>, ((session: any, now: number) => StepDecision<any>)[]]>([
  ['a GST session', (now) => admitGstSubmit(openGstSession('u', 0), now), [admitGstSubmit, admitGstRefresh]],
  ['an Aadhaar session', (now) => admitAadhaarCaptcha(freshAadhaar(), now), [admitAadhaarCaptcha, admitAadhaarOtp]],
])('%s takes one step at a time', (_what, first, steps) => {
  const decision = first(1);
  if (!decision.admitted) throw new Error('a fresh session is refused');
  for (const admit of steps)
    expect(admit(decision.session, 2)).toEqual({ admitted: false, session: decision.session, refusal: { code: 'session_busy' } });
});

describe('the table of sessions', () => {
  const owner = { subscriptionId: 's', mode: 'live' } as const;
  let now = 0;
  const table = (most = 10, mostOfOne = 100) => new SessionTable<string>({ longestMs: 100, most, mostOfOne, now: () => now });
  const open = (sessions: SessionTable<string>, who: SessionOwner = owner) =>
    sessions.open(who, () => Promise.resolve({ session: 'state' }));
  beforeEach(() => (now = 0));

  it('forgets what is too old and keeps the rest', async () => {
    const sessions = table();
    const { id: old } = await open(sessions);
    now = 60;
    const { id: young } = await open(sessions);
    now = 100;
    expect([sessions.find(old, owner), sessions.find(young, owner), sessions.size]).toEqual([undefined, 'state', 1]);
  });

  it('is never larger than it may be, starts under way included, and a failed start leaves no trace', async () => {
    const sessions = table(2);
    const failing = sessions.open(owner, () => Promise.reject(new Error('no')));
    const pending = open(sessions);
    await expect(open(sessions)).rejects.toMatchObject({ problem: 'service_not_ready' });
    await expect(failing).rejects.toThrow('no');
    await pending;
    await open(sessions);
    await expect(open(sessions)).rejects.toMatchObject({ problem: 'service_not_ready' });
    now = 200;
    await open(sessions);
    expect(sessions.size).toBe(1);
  });

  it('holds so many sessions of one subscription and no more, until one of them is over or forgotten', async () => {
    const sessions = table(10, 2);
    const [{ id: first }] = [await open(sessions), await open(sessions)];
    await expect(open(sessions)).rejects.toMatchObject({ problem: 'concurrency_exceeded' });
    await open(sessions, { ...owner, subscriptionId: 'another' });
    sessions.replace(first, undefined);
    await open(sessions);
    await expect(open(sessions, { ...owner, mode: 'test' })).rejects.toMatchObject({ problem: 'concurrency_exceeded' });
    now = 200;
    await open(sessions);
    await open(sessions);
    expect(sessions.size).toBe(2);
  });

  it('leaves half of itself to live keys', async () => {
    const sessions = table(4);
    const tester: SessionOwner = { subscriptionId: 'tester', mode: 'test' };
    await open(sessions, tester);
    await open(sessions, tester);
    await expect(open(sessions, tester)).rejects.toMatchObject({ problem: 'service_not_ready' });
    await open(sessions);
    await open(sessions);
  });

  it('a session that was forgotten while its step ran stays forgotten', async () => {
    const sessions = table();
    const { id } = await open(sessions);
    now = 200;
    expect(sessions.size).toBe(0);
    sessions.replace(id, 'late');
    expect(sessions.find(id, owner)).toBeUndefined();
  });
});

const read = (env: Record<string, string>) => readSettings({ worker: identityWorkerSettings }, env).worker;
const PROVIDER = { AADHAAR_PROVIDER_URL: 'https://otp.example', AADHAAR_PROVIDER_KEY: 'hunter2-key' };
const PORTAL = { GST_PORTAL_URL: 'https://portal.example/services', GST_PORTAL_ACKNOWLEDGEMENT: 'we-have-the-right-to-use-the-portal' };

it('nothing is required, and neither the provider nor the portal is on by itself', () => {
  expect(read({})).toMatchObject({ AADHAAR_TEST_SOURCE: 'link', GST_TEST_SOURCE: 'link', AADHAAR_PROVIDER_KEY_HEADER: 'Authorization' });
  expect(read({}).AADHAAR_PROVIDER_URL).toBeUndefined();
  expect(read({}).GST_PORTAL_URL).toBeUndefined();
});

it.each([
  ['the provider', PROVIDER],
  ['the portal', PORTAL],
  ['a provider on this machine without TLS', { ...PROVIDER, AADHAAR_PROVIDER_URL: 'http://127.0.0.1:9/x' }],
  ['both sources and the choice between them', { ...PROVIDER, AADHAAR_LINK_URL: 'wss://link.example', AADHAAR_SOURCE: 'link' }],
])('%s can be configured', (_what, env) => {
  expect(() => read(env)).not.toThrow();
});

it.each([
  [
    'a provider without its key',
    { AADHAAR_PROVIDER_URL: 'https://otp.example' },
    /AADHAAR_PROVIDER_KEY: is required when AADHAAR_PROVIDER_URL/,
  ],
  ['a key without its provider', { AADHAAR_PROVIDER_KEY: 'hunter2-key' }, /AADHAAR_PROVIDER_URL: is required/],
  [
    'a provider that numbers would reach in the clear',
    { ...PROVIDER, AADHAAR_PROVIDER_URL: 'http://otp.example' },
    /_URL: must start with https/,
  ],
  ['a key that is no header', { ...PROVIDER, AADHAAR_PROVIDER_KEY: 'hunter2\r\nx: y' }, /AADHAAR_PROVIDER_KEY: must be one word/],
  ['a header that is none', { ...PROVIDER, AADHAAR_PROVIDER_KEY_HEADER: 'x y' }, /AADHAAR_PROVIDER_KEY_HEADER: must be/],
  ['a portal without the acknowledgement', { GST_PORTAL_URL: PORTAL.GST_PORTAL_URL }, /GST_PORTAL_ACKNOWLEDGEMENT: is required/],
  ['an acknowledgement by habit', { ...PORTAL, GST_PORTAL_ACKNOWLEDGEMENT: 'true' }, /_ACKNOWLEDGEMENT: must be we-have-the-right/],
  ['two sources and no choice', { ...PORTAL, GST_LINK_URL: 'wss://link.example' }, /GST_SOURCE: must say which is used/],
  ['a choice that is not there', { AADHAAR_SOURCE: 'provider' }, /AADHAAR_PROVIDER_URL: is required when AADHAAR_SOURCE is provider/],
  ['an unknown choice', { GST_SOURCE: 'scraper' }, /GST_SOURCE: must be link or portal/],
])('%s is refused in one readable error without its values', (_what, env, message) => {
  expect(() => read(env)).toThrow(message);
  expect(() => read(env)).not.toThrow(/hunter2|scraper/);
});

type Target = Pick<UpstreamLinkOptions, 'url' | 'timings'>;

const TIMINGS = { messageMs: 20_000, connectMs: 20_000, heartbeatMs: 60_000 };
const open = (target: Target): UpstreamLink =>
  new UpstreamLink({ ...target, upstream: 'link', log: createLog('link', { level: 'silent' }) });
const nobodyLeaves = (): AbortSignal => new AbortController().signal;
const message = (sessionId: string, type = 'refresh') => ({ type, sessionId });

describeJsonLink('identity', {
  connect: (target) => {
    const link = open(target);
    return {
      ask: async (name, signal) => String((await link.exchange(message(name), signal)).sessionId),
      close: () => link.close(),
    };
  },
  answerTo: ({ sessionId }) => ({ type: 'captcha', sessionId, captcha: 'x' }),
  unreachable: expect.objectContaining({ name: 'SourceFailure', reason: 'unreachable' }),
  late: expect.objectContaining({ name: 'TimeoutError' }),
  garbled: expect.objectContaining({ name: 'SourceFailure', reason: 'bad_response' }),
  handshakeLate: expect.objectContaining({
    problem: 'upstream_timeout',
    cause: expect.objectContaining({ name: 'SourceFailure', reason: 'unreachable' }),
  }),
});

const opened: { close(): unknown }[] = [];
afterEach(() => Promise.all(opened.splice(0).map((each) => each.close())));

/** A link to an upstream that does this. */
async function linkOver(script: Parameters<typeof startScriptedLink>[0]) {
  const upstream = await startScriptedLink(script);
  const link = open({ url: upstream.url, timings: TIMINGS });
  opened.push(link, upstream);
  return { upstream, link };
}

it('the messages are the published ones, member by member', async () => {
  const echo = (frame: Frame, say: (answer: Frame) => void): void => say({ type: 'captcha', ...frame, captcha: 'x' });
  const { upstream, link } = await linkOver(echo);
  await link.start({ type: 'start' }, nobodyLeaves());
  await link.exchange({ type: 'data', sessionId: 's', gstin: 'G', captcha: 'C' }, nobodyLeaves());
  expect(upstream.received).toEqual([
    { type: 'start', requestId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    { type: 'data', sessionId: 's', gstin: 'G', captcha: 'C' },
  ]);
});

it('an error that names nobody is told to the only one that waits', async () => {
  const { link } = await linkOver((_frame, say) => say({ type: 'error', code: 'upstream', message: 'm' }));
  expect(await link.exchange(message('s'), nobodyLeaves())).toMatchObject({ type: 'error', code: 'upstream' });
});

it('an error that names nobody is told to none of several', async () => {
  let frames = 0;
  const { link } = await linkOver((frame, say) => {
    if (++frames < 2) return;
    say({ type: 'error', code: 'upstream' });
    say({ type: 'captcha', sessionId: 'a', captcha: 'x' });
    say({ type: 'captcha', sessionId: 'b', captcha: `after ${frame.sessionId}` });
  });
  const answers = await Promise.all([link.exchange(message('a'), nobodyLeaves()), link.exchange(message('b'), nobodyLeaves())]);
  expect(answers.map(({ type }) => type)).toEqual(['captcha', 'captcha']);
});

it('a broken connection fails everyone who waits at once, and nothing is sent twice', async () => {
  const { upstream, link } = await linkOver(() => undefined);
  const waiting = ['a', 'b', 'c'].map((name) => link.exchange(message(name), nobodyLeaves()));
  await eventually(() => upstream.received.length === 3);
  upstream.drop();
  for (const each of await Promise.allSettled(waiting))
    expect(each).toMatchObject({ reason: { name: 'SourceFailure', reason: 'unreachable' } });
  expect(upstream.received).toHaveLength(3);
});
