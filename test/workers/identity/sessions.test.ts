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
