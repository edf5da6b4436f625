import { setTimeout as sleep } from 'node:timers/promises';
import { listening, Stage } from '../../workers/identity/support/stage';
import { type ScriptedLink, startScriptedLink } from '../../support/scripted-link';
import { type HeldTime, holdTime } from '../../support/faults/held-time';
import { LiveCaller } from './live-caller';

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
    for (const answer of [...caller.answers, ...link.handshakes.map((each) => JSON.stringify(each))]) expect(answer).not.toContain(secret);
  }
});
