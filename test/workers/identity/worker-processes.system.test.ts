import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { eventually } from '../../support/eventually';
import { asLive, get, post } from './support/ask';
import { openingSessions } from '../../support/scripted-link';
import { Stage } from './support/stage';

const root = join(__dirname, '../../..');
const NUMBER = '999999990019';
const GSTIN = '27AAACR5055K1Z7';

let stage: Stage;
beforeEach(() => (stage = new Stage()));
afterEach(() => stage.close());

describe('worker processes', () => {
  let folder: string;
  beforeAll(() => {
    mkdirSync(join(root, '.test'), { recursive: true });
    folder = mkdtempSync(join(root, '.test/identity-'));
    // Where a build puts it, so that the proto is found from there.
    const outfile = join(folder, 'services/workers/identity/main.js');
    const options = ['--bundle', '--platform=node', '--packages=external', '--log-level=error', `--outfile=${outfile}`];
    execFileSync(join(root, 'node_modules/.bin/esbuild'), [join(root, 'services/workers/identity/main.ts'), ...options]);
    mkdirSync(join(folder, 'protos/identity/v1'), { recursive: true });
    execFileSync('cp', [join(root, 'protos/identity/v1/identity.proto'), join(folder, 'protos/identity/v1/')]);
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  async function startProcess(env: Record<string, string>): Promise<{ child: ChildProcess; address: string; port: number }> {
    const child = spawn(process.execPath, [join(folder, 'services/workers/identity/main.js')], {
      env: { PATH: process.env.PATH ?? '', LOG_LEVEL: 'error', ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    stage.onClose(() => child.kill('SIGKILL'));
    if (!child.stdout) throw new Error('no output');
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    const { ready, port } = JSON.parse(String(line));
    expect(ready).toBe(true);
    return { child, port, address: `127.0.0.1:${port}` };
  }

  test('a killed worker takes its own sessions along, with 400 session_expired, and no others; starts go to the living', async () => {
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
    expect(answers.map((each) => (each.statusCode === 200 ? each.status : each.code))).toEqual([
      'session_expired',
      'otp',
      'session_expired',
      'otp',
    ]);
    for (let index = 0; index < 3; index++) expect((await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER })).statusCode).toBe(200);
  });

  test('a worker that comes back at its old address is used again; it knows none of the old sessions', async () => {
    const { url } = await stage.sandbox();
    const first = await startProcess({ SANDBOX_URL: url });
    const gst = stage.gst([first]);
    const { sessionId } = await get(gst, '/gst/start');
    first.child.kill('SIGKILL');
    await once(first.child, 'exit');
    for (let index = 0; index < 5; index++) expect((await get(gst, '/gst/start')).statusCode).toBe(502);
    await startProcess({ SANDBOX_URL: url, WORKER_PORT: String(first.port) });
    await eventually(async () => (await get(gst, '/gst/start')).statusCode === 200);
    expect(await get(gst, `/gst/refresh_captcha?sessionId=${sessionId}`)).toMatchObject({ statusCode: 400, code: 'session_expired' });
  });

  test('a worker killed in the middle of a step ends that step at once', async () => {
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

  test('SIGTERM lets a running step finish and ends with 0', async () => {
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

  test('wrong settings are one readable error without their values', () => {
    const run = () =>
      execFileSync(process.execPath, [join(folder, 'services/workers/identity/main.js')], {
        env: { PATH: process.env.PATH ?? '', WORKER_PORT: 'x', IDENTITY_HMAC_KEY: 'c2hvcnQ=', GST_LINK_URL: 'ftp://u:hunter2@h' },
        stdio: 'pipe',
      });
    expect(run).toThrow(/The settings have 3 problems:\n {2}WORKER_PORT: .*\n {2}GST_LINK_URL: .*\n {2}IDENTITY_HMAC_KEY: /);
    expect(run).not.toThrow(/hunter2|c2hvcnQ/);
  });
});
