import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../../support/eventually';
import { asLive, get, post } from './support/ask';
import { openingSessions } from '../../support/scripted-link';
import { startProgram } from '../../support/system/program';
import { Stage } from './support/stage';

const NUMBER = '999999990019';
const GSTIN = '27AAACR5055K1Z7';

let stage: Stage;
beforeEach(() => (stage = new Stage()));
afterEach(() => stage.close());

describe('worker processes', () => {
  async function startProcess(env: Record<string, string>): Promise<{ child: ChildProcess; address: string }> {
    const { child, ready } = await startProgram('services/workers/identity/main.js', { env: { LOG_LEVEL: 'error', ...env } });
    stage.onClose(() => child.kill('SIGKILL'));
    return { child, address: `127.0.0.1:${Number(ready.port)}` };
  }

  it('a killed worker takes its own sessions along, with 400 session_expired, and no others; starts go to the living', async () => {
    const { url } = await stage.sandbox();
    const workers = [await startProcess({ SANDBOX_URL: url }), await startProcess({ SANDBOX_URL: url })];
    const aadhaar = stage.aadhaar(workers);
    const sessions: string[] = [];
    // Until both were heard of, turns may be taken by one alone.
    for (let index = 0; index < 2; index++) await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER });
    for (let index = 0; index < 4; index++) sessions.push((await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER })).sessionId);
    const dying = workers[0]?.child;
    dying?.kill('SIGKILL');
    if (dying) await once(dying, 'exit');
    const answers = [];
    for (const sessionId of sessions) answers.push(await post(aadhaar, '/aadhaar/captcha', { sessionId, captcha: 'KX47M' }));
    const outcomes = answers.map((each) => (each.statusCode === 200 ? each.status : each.code));
    expect(outcomes).toEqual(['session_expired', 'otp', 'session_expired', 'otp']);
    for (let index = 0; index < 3; index++) expect((await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER })).statusCode).toBe(200);
  });

  it('a worker killed in the middle of a step ends that step at once', async () => {
    const link = await stage.linkThat(openingSessions(() => dying?.kill('SIGKILL')));
    const worker = await startProcess({ GST_LINK_URL: link.url });
    const dying: ChildProcess | undefined = worker.child;
    const gst = stage.gst([worker]);
    const { sessionId } = await get(gst, '/gst/start', asLive);
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, asLive)).toMatchObject({
      statusCode: 400,
      code: 'session_expired',
    });
  });

  it('SIGTERM lets a running step finish and ends with 0', async () => {
    let release: () => void = () => undefined;
    const link = await stage.linkThat(
      openingSessions((frame, say) => (release = () => say({ type: 'result', sessionId: frame.sessionId, payload: {} }))),
    );
    const { child, address } = await startProcess({ GST_LINK_URL: link.url });
    const gst = stage.gst([{ address }]);
    const { sessionId } = await get(gst, '/gst/start', asLive);
    const answer = post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, asLive);
    await eventually(() => link.received.length === 2);
    const exited = once(child, 'exit');
    child.kill('SIGTERM');
    release();
    expect((await answer).statusCode).toBe(200);
    expect(await exited).toEqual([0, null]);
  });
});
