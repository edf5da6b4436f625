import { testCaptchaText } from '../../../services/workers/identity/captcha/captcha-text';
import { AadhaarProvider } from '../../../services/workers/identity/upstream/aadhaar-provider';
import { type AadhaarProviderClient } from '../../../services/workers/identity/upstream/aadhaar-provider-client';
import { type Harness } from '../../kit/harness';
import { type HeldTime, holdTime } from '../../support/faults/held-time';
import { asLive, post } from './support/ask';
import { MovingClock } from './support/moving-clock';
import { startScriptedHttp, type HttpScript, type ScriptedHttp } from './support/scripted-http';
import { Stage } from './support/stage';

const NUMBER = '999999990019';
const OTP = '24681357';
const KEY = 'live-provider-key';
const MINUTE = 60_000;
const MESSAGE_MS = 1_000;
const record = { name: 'Holder', date_of_birth: '1990-01-31', address: { state: 'Goa', aadhaar_copy: NUMBER }, aadhaar: NUMBER };
const SENT = { body: { reference_id: 'ref-1' } };
const [FIRST, SECOND] = [testCaptchaText(0), testCaptchaText(1)];

let stage: Stage;
/** Passes where the provider is silent, and nowhere else. */
let time: HeldTime;
beforeEach(() => {
  time = holdTime('timeouts');
  stage = new Stage({ captchaTexts: testCaptchaText });
});
afterEach(() => {
  time.release();
  return stage.close();
});

async function providerThat(script: HttpScript, env: Record<string, string> = {}): Promise<{ provider: ScriptedHttp; aadhaar: Harness }> {
  const provider = await startScriptedHttp(script, () => time.pass(MESSAGE_MS));
  stage.onClose(() => provider.close());
  const worker = await stage.worker({
    AADHAAR_PROVIDER_URL: `${provider.url}/v2`,
    AADHAAR_PROVIDER_KEY: KEY,
    IDENTITY_MESSAGE_TIMEOUT_MS: String(MESSAGE_MS),
    ...env,
  });
  return { provider, aadhaar: stage.aadhaar([worker]) };
}

const sends = (request: Parameters<HttpScript>[0]): ReturnType<HttpScript> => (request.url === '/v2/otp' ? SENT : { body: { record } });

async function captchaStep(aadhaar: Harness, as: object = asLive): Promise<any> {
  const { sessionId } = await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER }, as);
  return post(aadhaar, '/aadhaar/captcha', { sessionId, captcha: FIRST }, as);
}

describe('the provider is asked as documented', () => {
  it('the number once, in a body, after the captcha; from then on only the reference; the key in a header', async () => {
    const { provider, aadhaar } = await providerThat(sends);
    const { sessionId } = await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER }, asLive);
    await post(aadhaar, '/aadhaar/captcha', { sessionId, captcha: 'WRONG' }, asLive);
    expect(provider.seen).toEqual([]);
    expect(await post(aadhaar, '/aadhaar/captcha', { sessionId, captcha: SECOND }, asLive)).toMatchObject({ status: 'otp', sessionId });
    const verified = await post(aadhaar, '/aadhaar/otp', { sessionId, otp: OTP }, asLive);
    expect(verified).toMatchObject({ status: 'success', data: { name: 'Holder', masked_aadhaar: 'XXXXXXXX0019', gender: null } });
    expect(JSON.stringify(verified)).not.toContain(NUMBER);
    expect(provider.seen.map(({ method, url, text }) => [method, url, text])).toEqual([
      ['POST', '/v2/otp', `{"aadhaar":"${NUMBER}"}`],
      ['POST', '/v2/verify', `{"reference_id":"ref-1","otp":"${OTP}"}`],
    ]);
    for (const { headers, rawHeaders } of provider.seen) {
      expect(headers).toMatchObject({ authorization: `Bearer ${KEY}`, 'content-type': 'application/json', accept: 'application/json' });
      expect(rawHeaders.join(' ')).not.toContain(NUMBER);
    }
  });

  it('a header of another name takes the bare key', async () => {
    const { provider, aadhaar } = await providerThat(sends, { AADHAAR_PROVIDER_KEY_HEADER: 'X-API-Key' });
    await captchaStep(aadhaar);
    expect(provider.seen[0]?.headers).toMatchObject({ 'x-api-key': KEY });
    expect(provider.seen[0]?.headers.authorization).toBeUndefined();
  });

  it('the live key never goes to the sandbox', async () => {
    const provider = await startScriptedHttp(() => SENT);
    stage.onClose(() => provider.close());
    const env = { SANDBOX_URL: provider.url, AADHAAR_TEST_SOURCE: 'provider', AADHAAR_PROVIDER_KEY: KEY };
    const aadhaar = stage.aadhaar([await stage.worker({ ...env, AADHAAR_PROVIDER_URL: 'https://provider.invalid' })]);
    expect(await captchaStep(aadhaar, { mode: 'test' })).toMatchObject({ status: 'otp' });
    expect(provider.seen.map(({ url, headers }) => [url, headers.authorization])).toEqual([['/aadhaar-provider/otp', 'Bearer sandbox']]);
  });
});

describe('what the provider says', () => {
  const refusal = (status: number, code: string) => ({ status, body: { error: { code, message: `about ${NUMBER}` } } });

  const failed = (reason: string) => ({ statusCode: 502, code: 'upstream_failed', reason });
  const late = { statusCode: 504, code: 'upstream_timeout' };

  it.each([
    ['an unknown number', refusal(404, 'not_found'), { statusCode: 502, code: 'not_found' }],
    ['a spent allowance', refusal(400, 'rate_limited'), failed('provider_quota')],
    ['429', { status: 429 }, failed('provider_quota')],
    ['a refused key', { status: 401 }, failed('upstream_error')],
    ['another code', refusal(400, 'surprise'), failed('upstream_error')],
    ['503', { status: 503, body: 'busy' }, failed('upstream_error')],
    ['its own time-out', refusal(500, 'timeout'), late],
    ['504', { status: 504 }, late],
    ['no reference', { body: {} }, failed('bad_response')],
    ['a page', { body: `<p>${NUMBER}</p>` }, failed('bad_response')],
    ['a redirect', { status: 302, headers: { location: '/elsewhere' } }, failed('bad_response')],
    ['a broken connection', 'reset', failed('unreachable')],
    ['silence', 'hang', late],
  ] as const)('to the number: %s', async (_what, answer, expected) => {
    const { provider, aadhaar } = await providerThat(() => answer);
    const said = await captchaStep(aadhaar);
    expect(said).toMatchObject(expected);
    expect(JSON.stringify(said)).not.toContain(NUMBER);
    // Each request may send an OTP: none is repeated.
    expect(provider.seen).toHaveLength(1);
  });

  it.each([
    ['a wrong OTP', refusal(400, 'otp_invalid'), 400, 'otp_invalid'],
    ['an expired one', refusal(410, 'otp_expired'), 400, 'otp_expired'],
    ['an unknown reference', refusal(404, 'reference_unknown'), 400, 'session_expired'],
    ['a record without a name', { body: { record: { ...record, name: '' } } }, 502, 'upstream_failed'],
    ['no record', { body: {} }, 502, 'upstream_failed'],
    ['not_found, which is no answer to an OTP', refusal(404, 'not_found'), 502, 'upstream_failed'],
  ] as const)('to the OTP: %s', async (_what, answer, statusCode, code) => {
    const { aadhaar } = await providerThat(({ url }) => (url === '/v2/otp' ? SENT : answer));
    const { sessionId } = await captchaStep(aadhaar);
    expect(await post(aadhaar, '/aadhaar/otp', { sessionId, otp: OTP }, asLive)).toMatchObject({ statusCode, code });
  });
});

describe('a captcha of our own', () => {
  it('that was solved is void, also when the provider then failed: no OTP is asked for twice with it', async () => {
    let asked = 0;
    const { provider, aadhaar } = await providerThat(() => (asked++ === 0 ? { status: 500 } : SENT));
    const { sessionId } = await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER }, asLive);
    const submit = (captcha: string) => post(aadhaar, '/aadhaar/captcha', { sessionId, captcha }, asLive);
    expect(await submit(FIRST)).toMatchObject({ statusCode: 502 });
    expect(await submit(FIRST)).toMatchObject({ statusCode: 200, status: 'captcha', sessionId });
    expect(provider.seen).toHaveLength(1);
    expect(await submit(SECOND)).toMatchObject({ statusCode: 200, status: 'otp' });
    expect(provider.seen).toHaveLength(2);
  });

  it('of a live key cannot be foreseen: it is not the one of test keys', async () => {
    const random = new Stage();
    stage.onClose(() => random.close());
    const worker = await random.worker({ AADHAAR_PROVIDER_URL: 'https://provider.invalid', AADHAAR_PROVIDER_KEY: KEY });
    const { sessionId } = await post(random.aadhaar([worker]), '/aadhaar/start', { aadhaar: NUMBER }, asLive);
    const answer = await post(random.aadhaar([worker]), '/aadhaar/captcha', { sessionId, captcha: FIRST }, asLive);
    expect(answer.status).not.toBe('otp');
  });
});

describe('a number is kept', () => {
  const call = { mode: 'live' as const, signal: new AbortController().signal };
  const clock = new MovingClock();
  // The cache takes a start at 0 for one without a lifetime.
  clock.pass(1);
  const keeper = (provider: Partial<AadhaarProviderClient>): AadhaarProvider => {
    const unused = (): never => {
      throw new Error('not asked for');
    };
    const captchas = { live: testCaptchaText, test: testCaptchaText };
    return new AadhaarProvider({ provider: { requestOtp: unused, verify: unused, ...provider }, captchas, clock, mostSessions: 2 });
  };
  const opened = async (upstream: AadhaarProvider): Promise<string> => (await upstream.start(NUMBER, call))?.upstreamId ?? '';

  it('ten minutes at most, also when its session is never asked for again', async () => {
    jest.useFakeTimers({ doNotFake: ['nextTick', 'setImmediate', 'queueMicrotask'] });
    try {
      const upstream = keeper({});
      await opened(upstream);
      clock.pass(10 * MINUTE + 1);
      jest.advanceTimersByTime(10 * MINUTE + 2);
      expect(upstream.size).toBe(0);
    } finally {
      jest.useRealTimers();
    }
  });

  it('not after the third wrong captcha, nor after an OTP request without an answer, nor in more sessions than allowed', async () => {
    const upstream = keeper({ requestOtp: () => Promise.reject(new DOMException('too late', 'TimeoutError')) });
    const exhausted = await opened(upstream);
    for (let time = 0; time < 3; time++)
      expect(await upstream.checkCaptcha(exhausted, 'WRONG', call)).toMatchObject({ kind: 'captcha_rejected' });
    expect(await upstream.checkCaptcha(exhausted, testCaptchaText(3), call)).toEqual({ kind: 'session_unknown' });
    const lost = await opened(upstream);
    await expect(upstream.checkCaptcha(lost, FIRST, call)).rejects.toThrow('too late');
    expect(upstream.size).toBe(0);
    for (let count = 0; count < 4; count++) await opened(upstream);
    expect(upstream.size).toBe(2);
  });

  it('not once its OTP is sent: only the reference is, until the record', async () => {
    const asked: string[] = [];
    const upstream = keeper({
      requestOtp: (aadhaar) => {
        asked.push(aadhaar);
        return Promise.resolve({ kind: 'sent', reference: 'ref-1' });
      },
      verify: (reference, otp) => {
        asked.push(reference, otp);
        return Promise.resolve({ kind: 'otp_expired' });
      },
    });
    const id = await opened(upstream);
    await upstream.checkCaptcha(id, FIRST, call);
    expect(await upstream.checkCaptcha(id, SECOND, call)).toEqual({ kind: 'session_unknown' });
    await upstream.checkOtp(id, OTP, call);
    expect([asked, upstream.size]).toEqual([[NUMBER, 'ref-1', OTP], 0]);
  });
});
