import { testCaptchaText } from '../../../services/workers/identity/captcha/captcha-text';
import { MovingClock } from '../../workers/identity/support/moving-clock';
import { Stage } from '../../workers/identity/support/stage';
import { type Harness } from '../../kit/harness';
import { firstOf } from '../../support/scenes';
import { useOpened } from '../../support/opened';

describe('the service of Aadhaar', () => {
  const NUMBER = '999999990019';
  const MINUTE = 60_000;

  /** How an upstream that hangs or fails before the OTP is met: by a captcha of the link, by a number at the provider. */
  const SOURCES = [
    {
      source: 'link',
      liveSettings: (url: string) => ({ AADHAAR_LINK_URL: `${url}/identity/aadhaar` }),
      silent: { aadhaar: NUMBER, captcha: 'SLOW504' },
      failing: { aadhaar: NUMBER, captcha: 'FAIL502' },
      afterFailure: 'otp',
    },
    {
      source: 'provider',
      liveSettings: (url: string) => ({ AADHAAR_PROVIDER_URL: `${url}/aadhaar-provider`, AADHAAR_PROVIDER_KEY: 'key' }),
      silent: { aadhaar: '999999995049', captcha: 'KX47M' },
      failing: { aadhaar: '999999995020', captcha: 'KX47M' },
      // The captcha that was solved is void: the next one is shown.
      afterFailure: 'captcha',
    },
  ];

  /** The same guarantees whichever upstream answers: `npm test` asks over the link; the provider has tests of its own beside its worker. */
  describe.each(firstOf(SOURCES))('from the $source', ({ source, liveSettings, silent, failing, afterFailure }) => {
    const clock = new MovingClock();
    // The captchas of live keys are known here as those of test keys always are.
    const stage = useOpened(() => new Stage({ clock, captchaTexts: testCaptchaText }));
    let aadhaar: Harness;
    /** Does not wait for a silent upstream. */
    let hasty: Harness;
    /** Live keys reach the sandbox as their live upstream: only then are OTPs counted. */
    let throttled: Harness;

    beforeAll(async () => {
      const { url } = await stage.sandbox();
      const env = { SANDBOX_URL: url, AADHAAR_TEST_SOURCE: source };
      aadhaar = stage.aadhaar([await stage.worker(env)]);
      hasty = stage.aadhaar([await stage.worker({ ...env, IDENTITY_MESSAGE_TIMEOUT_MS: '3000' })]);
      const live = { ...liveSettings(url), AADHAAR_OTP_MOST: '2', AADHAAR_OTP_WINDOW_MS: String(30 * MINUTE) };
      throttled = stage.aadhaar([await stage.worker(live)]);
    });

    const step = async (name: string, payload: object, as = {}, service = aadhaar) => {
      const answer = await service.call({ method: 'POST', url: `/aadhaar/${name}`, payload, context: { mode: 'test', ...as } });
      expect(answer.headers['cache-control']).toBe('no-store');
      return { statusCode: answer.statusCode, headers: answer.headers, text: answer.body, ...answer.json() };
    };
    const start = async (as = {}, service = aadhaar, number = NUMBER): Promise<string> =>
      (await step('start', { aadhaar: number }, as, service)).sessionId;
    const startAndSolve = async (as = {}, service = aadhaar): Promise<string> => {
      const sessionId = await start(as, service);
      expect((await step('captcha', { sessionId, captcha: 'KX47M' }, as, service)).status).toBe('otp');
      return sessionId;
    };

    describe('the flow', () => {
      it('start, captcha, otp: each step answers in its published form, and the session is then gone', async () => {
        const started = await step('start', { aadhaar: NUMBER });
        const { sessionId, captcha_base64 } = started;
        expect(started).toMatchObject({ statusCode: 200, status: 'captcha', message: expect.any(String) });
        expect([sessionId, captcha_base64]).toEqual([expect.stringMatching(/^[0-9a-f]{32}$/), expect.stringMatching(/^iVBOR/)]);
        const solved = await step('captcha', { sessionId, captcha: 'kx47m' });
        expect(solved).toMatchObject({ statusCode: 200, status: 'otp', message: expect.any(String), sessionId });
        const verified = await step('otp', { sessionId, otp: '123456' });
        expect(verified).toMatchObject({ statusCode: 200, status: 'success', message: expect.any(String), sessionId });
        expect(verified.data).toEqual({
          name: 'Sandbox Holder',
          date_of_birth: '1990-01-31',
          gender: 'F',
          care_of: 'D/O Sandbox Parent',
          address: expect.objectContaining({ state: 'Maharashtra', pin: '400001' }),
          photo_base64: expect.stringMatching(/^iVBOR/),
          masked_aadhaar: 'XXXXXXXX0019',
          reference_id: 'sandbox-0019',
          verified_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/),
        });
        expect(verified.text).not.toContain(NUMBER);
        expect(await step('otp', { sessionId, otp: '123456' })).toMatchObject({ statusCode: 400, code: 'session_expired' });
      });

      it('a rejected captcha is a 200 with the next one and the same session; the third ends it', async () => {
        const { sessionId, captcha_base64 } = await step('start', { aadhaar: NUMBER });
        const images = [captcha_base64];
        for (let time = 0; time < 2; time++) {
          const answer = await step('captcha', { sessionId, captcha: 'WRONG' });
          expect(answer).toMatchObject({ statusCode: 200, status: 'captcha', sessionId });
          images.push(answer.captcha_base64);
        }
        expect(new Set(images).size).toBe(3);
        expect(await step('captcha', { sessionId, captcha: 'WRONG' })).toMatchObject({ statusCode: 400, code: 'attempts_exhausted' });
        expect(await step('captcha', { sessionId, captcha: 'KX47M' })).toMatchObject({ statusCode: 400, code: 'session_expired' });
      });

      it('the captcha of a rejection works, the one before it does not', async () => {
        const sessionId = await start();
        await step('captcha', { sessionId, captcha: 'WRONG' });
        expect((await step('captcha', { sessionId, captcha: 'KX47M' })).status).toBe('captcha');
        expect((await step('captcha', { sessionId, captcha: 'M7XK2' })).status).toBe('otp');
      });

      it('a wrong OTP says how many attempts are left; the third ends the session', async () => {
        const sessionId = await startAndSolve();
        expect(await step('otp', { sessionId, otp: '000000' })).toMatchObject({ statusCode: 400, code: 'otp_invalid', attempts_left: 2 });
        expect(await step('otp', { sessionId, otp: '999999' })).toMatchObject({ statusCode: 400, code: 'otp_invalid', attempts_left: 1 });
        expect(await step('otp', { sessionId, otp: '000000' })).toMatchObject({ statusCode: 400, code: 'attempts_exhausted' });
        expect(await step('otp', { sessionId, otp: '123456' })).toMatchObject({ statusCode: 400, code: 'session_expired' });
      });

      it('steps out of order are 400 invalid_sequence and leave the session as it was', async () => {
        const sessionId = await start();
        expect(await step('otp', { sessionId, otp: '123456' })).toMatchObject({ statusCode: 400, code: 'invalid_sequence' });
        await step('captcha', { sessionId, captcha: 'KX47M' });
        expect(await step('captcha', { sessionId, captcha: 'KX47M' })).toMatchObject({ statusCode: 400, code: 'invalid_sequence' });
        expect(await step('otp', { sessionId, otp: '123456' })).toMatchObject({ statusCode: 200 });
      });
    });

    describe('time', () => {
      it('a captcha may take ten minutes and not more', async () => {
        const [one, two] = [await start(), await start()];
        clock.pass(10 * MINUTE - 1);
        expect(await step('captcha', { sessionId: one, captcha: 'KX47M' })).toMatchObject({ status: 'otp' });
        clock.pass(1);
        expect(await step('captcha', { sessionId: two, captcha: 'KX47M' })).toMatchObject({ statusCode: 400, code: 'session_expired' });
      });

      it('an OTP has ten minutes of its own, then it is 400 otp_expired once', async () => {
        const [one, two] = [await startAndSolve(), await startAndSolve()];
        clock.pass(10 * MINUTE - 1);
        expect(await step('otp', { sessionId: one, otp: '123456' })).toMatchObject({ statusCode: 200 });
        clock.pass(1);
        expect(await step('otp', { sessionId: two, otp: '123456' })).toMatchObject({ statusCode: 400, code: 'otp_expired' });
        expect(await step('otp', { sessionId: two, otp: '123456' })).toMatchObject({ statusCode: 400, code: 'session_expired' });
      });
    });

    describe('failures of the upstream', () => {
      it('one that never answers a captcha or an OTP is 504, and a late answer can reach nobody: the session is over', async () => {
        const [one, two] = [await start({}, hasty, silent.aadhaar), await startAndSolve({}, hasty)];
        const ask = (name: string, payload: object) => step(name, payload, {}, hasty);
        const hanging = [ask('captcha', { sessionId: one, captcha: silent.captcha }), ask('otp', { sessionId: two, otp: '504504' })];
        for (const answer of await Promise.all(hanging)) expect(answer).toMatchObject({ statusCode: 504, code: 'upstream_timeout' });
        expect(await ask('captcha', { sessionId: one, captcha: 'KX47M' })).toMatchObject({ code: 'session_expired' });
        expect(await ask('otp', { sessionId: two, otp: '123456' })).toMatchObject({ code: 'session_expired' });
      });

      it('an error of it does not end the session, and one at the OTP costs no attempt', async () => {
        const refused = await start({}, aadhaar, failing.aadhaar);
        const failed = await step('captcha', { sessionId: refused, captcha: failing.captcha });
        expect(failed).toMatchObject({ statusCode: 502, reason: 'upstream_error' });
        expect(await step('captcha', { sessionId: refused, captcha: 'KX47M' })).toMatchObject({ statusCode: 200, status: afterFailure });
        const sessionId = await startAndSolve();
        for (let time = 0; time < 3; time++) {
          expect(await step('otp', { sessionId, otp: '502502' })).toMatchObject({ statusCode: 502, code: 'upstream_failed' });
        }
        expect(await step('otp', { sessionId, otp: '123456' })).toMatchObject({ statusCode: 200 });
      });
    });

    describe('safety', () => {
      it.each([
        ['GET', '/aadhaar/start'],
        ['POST', '/aadhaar/start'],
        ['POST', '/aadhaar/captcha'],
        ['GET', '/aadhaar'],
      ] as const)('%s %s refuses a number in the URL and does not repeat it', async (method, path) => {
        const answer = await aadhaar.call({ method, url: `${path}?aadhaar=${NUMBER}`, context: { mode: 'test' } });
        expect(answer.statusCode).toBe(400);
        expect(answer.json()).toMatchObject({ code: 'invalid_request', errors: [{ field: 'aadhaar' }] });
        expect(answer.body).not.toContain(NUMBER);
      });

      it('an OTP in the URL is refused', async () => {
        const answer = await aadhaar.call({ method: 'POST', url: '/aadhaar/otp?otp=123456', payload: { sessionId: 'x' } });
        expect([answer.statusCode, answer.json().errors[0].field, answer.body.includes('123456')]).toEqual([400, 'otp', false]);
      });

      it('another subscription cannot use a session, nor learn that it exists', async () => {
        const sessionId = await start();
        const stranger = await step('captcha', { sessionId, captcha: 'KX47M' }, { subscriptionId: 'subscription-2' });
        const unknown = await step('captcha', { sessionId: 'f'.repeat(32), captcha: 'KX47M' });
        expect(stranger.text).toBe(unknown.text);
        expect(unknown).toMatchObject({ statusCode: 400, code: 'session_expired' });
        expect((await step('captcha', { sessionId, captcha: 'KX47M' })).status).toBe('otp');
      });
    });

    describe('OTPs for one number', () => {
      const live = { mode: 'live' as const };

      it('are limited, whoever asks; the answer says when to come back; a rejected captcha does not count', async () => {
        const sessions: string[] = [];
        for (let index = 0; index < 4; index++) sessions.push(await start({ ...live, subscriptionId: `s-${index}` }, throttled));
        const solve = (index: number, captcha: string) =>
          step('captcha', { sessionId: sessions[index], captcha }, { ...live, subscriptionId: `s-${index}` }, throttled);
        expect(await solve(0, 'WRONG')).toMatchObject({ status: 'captcha' });
        expect(await solve(1, 'KX47M')).toMatchObject({ status: 'otp' });
        clock.pass(MINUTE);
        expect(await solve(2, 'KX47M')).toMatchObject({ status: 'otp' });
        const refused = await solve(3, 'KX47M');
        expect(refused).toMatchObject({ statusCode: 400, code: 'otp_throttled', retry_after: 29 * 60 });
        expect(refused.headers['retry-after']).toBe(String(29 * 60));
        expect(await step('start', { aadhaar: NUMBER }, live, throttled)).toMatchObject({ statusCode: 400, code: 'otp_throttled' });
        expect(await step('start', { aadhaar: '234567890124' }, live, throttled)).toMatchObject({ status: 'captcha' });
        clock.pass(29 * MINUTE);
        expect(await step('start', { aadhaar: NUMBER }, live, throttled)).toMatchObject({ status: 'captcha' });
      });

      it('are not limited in the sandbox, where none are sent', async () => {
        for (let index = 0; index < 8; index++) await startAndSolve();
      });
    });
  });
});

describe('input of Aadhaar and GST', () => {
  const stage = useOpened(() => new Stage());
  const services: Record<string, Harness> = {};
  beforeAll(async () => {
    const { url } = await stage.sandbox();
    const worker = await stage.worker({ SANDBOX_URL: url });
    services.aadhaar = stage.aadhaar([worker]);
    services.gst = stage.gst([worker]);
  });

  type Call = Parameters<Harness['call']>[0];

  async function send(call: Call) {
    const name = /gst/.test(String(call.url)) ? 'gst' : 'aadhaar';
    const answer = await services[name]!.call({ method: 'POST', ...call, context: { mode: 'test' } });
    return { statusCode: answer.statusCode, ...answer.json() };
  }

  const ID = '0'.repeat(32);
  const GSTIN = '27AAACR5055K1Z7';
  it.each([
    ['/aadhaar/start', {}, ['aadhaar']],
    ['/aadhaar/start', { aadhaar: '999999990018' }, ['aadhaar']],
    ['/aadhaar/captcha', {}, ['sessionId', 'captcha']],
    ['/aadhaar/captcha', { sessionId: 'x'.repeat(201), captcha: 'x' }, ['sessionId']],
    ['/aadhaar/otp', { sessionId: ID, otp: '12a456' }, ['otp']],
    ['/gst/data', {}, ['sessionId', 'captcha', 'GSTIN']],
    ['/gst/data', { sessionId: ID, captcha: 'x', gst: 'nonsense' }, ['gst']],
    ['/gst/data', { sessionId: ID, captcha: 'x', GSTIN, gstin: '33AAAGM0289C1DZ' }, ['gstin']],
    ['/gst/data', { sessionId: ID, captcha: 'x', GSTIN: '27AAACR5055K1Z8', strict: true }, ['GSTIN']],
  ])('%s with %p names the fields %j', async (url, payload, fields) => {
    const answer = await send({ url, payload });
    expect([answer.statusCode, answer.code]).toEqual([400, 'invalid_request']);
    expect(answer.errors.map(({ field }: { field: string }) => field)).toEqual(fields);
  });

  it('a wrong check character alone is not refused without strict', async () => {
    expect(await send({ url: '/gst/data', payload: { sessionId: ID, captcha: 'x', GSTIN: '27AAACR5055K1Z8' } })).toMatchObject({
      code: 'session_expired',
    });
  });

  it.each(['/gst/refresh_captcha', '/api/v1/gst/refresh-captcha'])('%s without a sessionId names it', async (url) => {
    for (const query of [{}, { sessionId: '' }] as Record<string, string>[]) {
      expect(await send({ method: 'GET', url, query })).toMatchObject({ statusCode: 400, errors: [{ field: 'sessionId' }] });
    }
    expect(await send({ method: 'GET', url: `${url}?sessionId=a&sessionId=b` })).toMatchObject({ statusCode: 400 });
  });
});
