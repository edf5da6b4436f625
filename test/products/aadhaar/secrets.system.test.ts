import { setTimeout as sleep } from 'node:timers/promises';
import { listening, Stage } from '../../workers/identity/support/stage';
import { type ScriptedLink, startScriptedLink } from '../../support/scripted-link';
import { type HeldTime, holdTime } from '../../support/faults/held-time';
import { type ScriptedAnswer, type ScriptedHttp, type SeenRequest, startScriptedHttp } from '../../workers/identity/support/scripted-http';
import { once } from 'node:events';
import { request } from 'node:http';
import { contextFor, proofHeader } from '../../kit/context';

/** Calls a service of Aadhaar with a live key, and keeps its answers with their headers. */
class LiveCaller {
  readonly answers: string[] = [];
  constructor(private readonly port: number) {}

  /** With node:http, which shows headers as they were sent. */
  async say(path: string, payload: object): Promise<any> {
    const headers = { ...proofHeader(contextFor('api-aadhaar', { mode: 'live' })), 'content-type': 'application/json' };
    const sent = request({ port: this.port, host: '127.0.0.1', path, method: 'POST', headers });
    sent.end(JSON.stringify(payload));
    const [response] = await once(sent, 'response');
    let body = '';
    for await (const chunk of response) body += String(chunk);
    this.answers.push(JSON.stringify(response.rawHeaders) + body);
    return JSON.parse(body);
  }
}

describe('over the link', () => {
  const NUMBER = '999999990019';
  /** Digits that no address, port, time or id of a test holds by chance. */
  const OTP = '73519046';
  const CAPTCHA = 'Zq9Captcha7';
  const MESSAGE_MS = 1_000;
  const SECRETS = [NUMBER, '9999 9999 0019', '9999-9999-0019', OTP, CAPTCHA];

  const lines: string[] = [];
  const stage = new Stage({ logTo: { write: (line) => void lines.push(line) } });
  let link: ScriptedLink;
  let caller: LiveCaller;
  /** Passes where the upstream gives no answer that can be read, and nowhere else. */
  let time: HeldTime;

  beforeAll(async () => {
    time = holdTime('timeouts');
    let sessions = 0;
    // An upstream that repeats every secret in everything it says.
    link = await startScriptedLink((frame, say, socket) => {
      const said = `${frame.aadhaar ?? ''} ${frame.captcha ?? ''} ${frame.otp ?? ''}`;
      if (frame.type === 'start') {
        if (sessions > 6) return say({ type: 'error', requestId: frame.requestId, code: said, message: said });
        return say({ type: 'captcha', requestId: frame.requestId, sessionId: `u${++sessions}`, captcha: PIXEL });
      }
      const { sessionId } = frame;
      if (sessionId === 'u1')
        return say({ type: frame.type === 'captcha' ? 'otp_required' : 'error', sessionId, code: 'otp_invalid', message: said });
      if (sessionId === 'u2') return say({ type: 'error', sessionId, code: said, message: said });
      if (sessionId === 'u3') return say(`${said} is not JSON`);
      if (sessionId === 'u6') {
        void sleep(20).then(() => time.pass(MESSAGE_MS));
        return say({ type: 'captcha', sessionId: said, captcha: said });
      }
      if (sessionId === 'u4') return socket.close(1011, said.slice(0, 100));
      if (sessionId === 'u5') return say({ type: said, sessionId });
      return say({ type: 'captcha', sessionId, captcha: said });
    });
    stage.onClose(() => link.close());
    const worker = await stage.worker({
      AADHAAR_LINK_URL: link.url,
      IDENTITY_MESSAGE_TIMEOUT_MS: String(MESSAGE_MS),
      AADHAAR_OTP_MOST: '100',
    });
    caller = new LiveCaller(await listening(stage.aadhaar([worker])));
  });
  afterAll(() => {
    time.release();
    return stage.close();
  });

  const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

  it('number, OTP and captcha appear in no answer, log line or metric, however the upstream fails', async () => {
    for (let index = 0; index < 8; index++) {
      const { sessionId } = await caller.say('/aadhaar/start', { aadhaar: NUMBER });
      await caller.say('/aadhaar/captcha', { sessionId: sessionId ?? 'none', captcha: CAPTCHA });
      await caller.say('/aadhaar/otp', { sessionId: sessionId ?? 'none', otp: OTP });
    }
    await caller.say('/aadhaar/start', { aadhaar: `${NUMBER}0` });
    await caller.say('/aadhaar/start', { aadhaar: NUMBER, Aadhaar: [NUMBER] });
    await caller.say(`/aadhaar/start?aadhaar=${NUMBER}`, {});
    await caller.say(`/aadhaar/otp?otp=${OTP}`, { sessionId: NUMBER });
    await caller.say(`/aadhaar/nowhere/${NUMBER}?otp=${OTP}`, {});
    const statuses = caller.answers.map((text) => /"status":("?\w+"?)/.exec(text)?.[1]);
    expect(statuses).toEqual(expect.arrayContaining(['"captcha"', '"otp"', '400', '404', '502', '504']));

    const written = lines.join('\n');
    const metrics = await stage.metrics.registry.metrics();
    expect(lines.length).toBeGreaterThan(20);
    expect(written).toContain('"level":"debug"');
    expect(metrics).toContain('tollgate_requests_total');
    for (const secret of SECRETS) {
      expect(written).not.toContain(secret);
      expect(metrics).not.toContain(secret);
      for (const answer of [...caller.answers, ...link.handshakes.map((each) => JSON.stringify(each))])
        expect(answer).not.toContain(secret);
    }
  });
});

describe('at the provider', () => {
  const NUMBER = '999999990019';
  /** Texts that no address, port, time or id of a test holds by chance. */
  const OTP = '73519046';
  const CAPTCHA = 'KXMTRPWYHNKX';
  const KEY = 'pk-5b1e0c-provider-key';
  const MESSAGE_MS = 1_000;
  const SECRETS = [NUMBER, '9999 9999 0019', '9999-9999-0019', OTP, CAPTCHA, KEY];

  const lines: string[] = [];
  const stage = new Stage({ logTo: { write: (line) => void lines.push(line) }, captchaTexts: () => CAPTCHA });
  let provider: ScriptedHttp;
  let caller: LiveCaller;
  /** Passes where the provider is silent, and nowhere else. */
  let time: HeldTime;

  /** Repeats every secret it was told, in all that an HTTP answer consists of. */
  function hostile(said: string): (ScriptedAnswer | 'hang' | 'reset')[] {
    const header = { 'x-echo': said, 'set-cookie': `echo=${said}`, location: `https://provider.invalid/?aadhaar=${said}` };
    return [
      { status: 400, body: { error: { code: said, message: said } } },
      { status: 404, body: { error: { code: 'not_found', message: said } } },
      { status: 500, headers: header, body: `${said} is not JSON` },
      { status: 302, headers: header, body: { message: said } },
      // A JSON parser quotes the beginning of this one.
      { headers: header, body: `x${OTP} ${said}` },
      { body: { [said]: said } },
      'reset',
      'hang',
    ];
  }

  beforeAll(async () => {
    time = holdTime('timeouts');
    const turns: Record<string, number> = {};
    const answer = ({ url, text, headers }: SeenRequest): ScriptedAnswer | 'hang' | 'reset' => {
      const said = `${text} ${headers.authorization} ${NUMBER} 9999 9999 0019`.replace(/[^\w .-]/g, ' ');
      const turn = (turns[url] = (turns[url] ?? -1) + 1);
      // Every other OTP is sent, so that every step meets every answer.
      if (url === '/otp' && turn % 2 === 0) return { body: { reference_id: `${said} ${turn}` } };
      const all = hostile(said);
      return all[(url === '/otp' ? (turn - 1) / 2 : turn) % all.length] ?? { body: { record: { name: `Holder of ${NUMBER}` } } };
    };
    provider = await startScriptedHttp(answer, () => time.pass(MESSAGE_MS));
    stage.onClose(() => provider.close());
    const settings = { AADHAAR_PROVIDER_URL: provider.url, AADHAAR_PROVIDER_KEY: KEY, AADHAAR_OTP_MOST: '100' };
    const worker = await stage.worker({ ...settings, IDENTITY_MESSAGE_TIMEOUT_MS: String(MESSAGE_MS) });
    caller = new LiveCaller(await listening(stage.aadhaar([worker])));
  });
  afterAll(() => {
    time.release();
    return stage.close();
  });

  it('number, OTP, captcha and key appear in no answer, log line, metric or URL, however the provider fails', async () => {
    for (let index = 0; index < 16; index++) {
      const { sessionId } = await caller.say('/aadhaar/start', { aadhaar: NUMBER });
      await caller.say('/aadhaar/captcha', { sessionId, captcha: 'WRONG' });
      await caller.say('/aadhaar/captcha', { sessionId, captcha: CAPTCHA });
      await caller.say('/aadhaar/otp', { sessionId, otp: OTP });
    }
    await caller.say(`/aadhaar/start?aadhaar=${NUMBER}`, {});
    const codes = new Set(caller.answers.map((text) => /"(?:code|status)":"(\w+)"/.exec(text)?.[1]));
    expect([...codes]).toEqual(
      expect.arrayContaining(['captcha', 'otp', 'upstream_failed', 'upstream_timeout', 'not_found', 'session_expired']),
    );

    const written = lines.join('\n');
    const metrics = await stage.metrics.registry.metrics();
    expect(lines.length).toBeGreaterThan(20);
    expect(metrics).toContain('tollgate_requests_total');
    const urlsAndHeads = provider.seen.map(({ url, rawHeaders }) => `${url} ${rawHeaders.join(' ').replace(`Bearer ${KEY}`, '')}`);
    expect(urlsAndHeads.length).toBeGreaterThan(20);
    for (const secret of SECRETS) {
      expect(written).not.toContain(secret);
      expect(metrics).not.toContain(secret);
      for (const text of [...caller.answers, ...urlsAndHeads]) expect(text).not.toContain(secret);
    }
  });

  it('the number goes to the provider in the body of the one request that sends its OTP', () => {
    for (const { url, text } of provider.seen) {
      // This provider's references repeat the number; what we send of our own accord does not.
      const own = url === '/otp' ? text : text.replace(/"reference_id":"[^"]*"/, '');
      expect([url, own.includes(NUMBER)]).toEqual([url, url === '/otp']);
    }
  });
});
