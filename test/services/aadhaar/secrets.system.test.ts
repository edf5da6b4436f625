import { once } from 'node:events';
import { request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { listening, Stage } from '../../workers/identity/support/stage';
import { type ScriptedLink, startScriptedLink } from '../../support/scripted-link';
import { type HeldTime, holdTime } from '../../support/faults/held-time';
import { contextFor, type Harness, proofHeader } from '../kit/harness';

const NUMBER = '999999990019';
/** Digits that no address, port, time or id of a test holds by chance. */
const OTP = '73519046';
const CAPTCHA = 'Zq9Captcha7';
const MESSAGE_MS = 1_000;
const SECRETS = [NUMBER, '9999 9999 0019', '9999-9999-0019', OTP, CAPTCHA];

const lines: string[] = [];
const stage = new Stage({ logTo: { write: (line) => void lines.push(line) } });
let link: ScriptedLink;
let aadhaar: Harness;
let port = 0;
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
  aadhaar = stage.aadhaar([worker]);
  port = await listening(aadhaar);
});
afterAll(() => {
  time.release();
  return stage.close();
});

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAAAAAA6fptVAAAACklEQVR4nGNoAAAAggCBd81ytgAAAABJRU5ErkJggg==';

async function post(path: string, payload: object): Promise<{ text: string; body: any }> {
  const proof = proofHeader(contextFor('api-aadhaar', { mode: 'live' }));
  const sent = request({ port, host: '127.0.0.1', path, method: 'POST', headers: { ...proof, 'content-type': 'application/json' } });
  sent.end(JSON.stringify(payload));
  const [response] = await once(sent, 'response');
  let text = JSON.stringify(response.rawHeaders);
  let body = '';
  for await (const chunk of response) body += String(chunk);
  text += body;
  return { text, body: JSON.parse(body) };
}

test('number, OTP and captcha appear in no answer, log line or metric, however the upstream fails', async () => {
  const answers: string[] = [];
  const say = async (path: string, payload: object): Promise<any> => {
    const { text, body } = await post(path, payload);
    answers.push(text);
    return body;
  };
  for (let index = 0; index < 8; index++) {
    const { sessionId } = await say('/aadhaar/start', { aadhaar: NUMBER });
    await say('/aadhaar/captcha', { sessionId: sessionId ?? 'none', captcha: CAPTCHA });
    await say('/aadhaar/otp', { sessionId: sessionId ?? 'none', otp: OTP });
  }
  await say('/aadhaar/start', { aadhaar: `${NUMBER}0` });
  await say('/aadhaar/start', { aadhaar: NUMBER, Aadhaar: [NUMBER] });
  await say(`/aadhaar/start?aadhaar=${NUMBER}`, {});
  await say(`/aadhaar/otp?otp=${OTP}`, { sessionId: NUMBER });
  await say(`/aadhaar/nowhere/${NUMBER}?otp=${OTP}`, {});
  const statuses = answers.map((text) => /"status":("?\w+"?)/.exec(text)?.[1]);
  expect(statuses).toEqual(expect.arrayContaining(['"captcha"', '"otp"', '400', '404', '502', '504']));

  const written = lines.join('\n');
  const metrics = await stage.metrics.registry.metrics();
  expect(lines.length).toBeGreaterThan(20);
  expect(written).toContain('"level":"debug"');
  expect(metrics).toContain('tollgate_requests_total');
  for (const secret of SECRETS) {
    expect(written).not.toContain(secret);
    expect(metrics).not.toContain(secret);
    for (const answer of [...answers, ...link.handshakes.map((each) => JSON.stringify(each))]) expect(answer).not.toContain(secret);
  }
});
