import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { loadService } from '../../../services/kit/load-proto';
import { serveWorker } from '../../../services/kit/serve-worker';
import { createGstHandlers } from '../../../services/workers/identity/gst-handlers';
import { contextFor, type Harness, proofHeader, testClock } from '../../services/kit/harness';
import { eventually } from '../../support/eventually';
import { startTestRedis, type TestRedis } from '../../support/redis';
import { PIXEL, startScriptedLink, type Frame, type ScriptedLink } from './support/scripted-link';
import { closedPort, listening, Stage } from './support/stage';

const root = join(__dirname, '../../..');
const NUMBER = '999999990019';
const GSTIN = '27AAACR5055K1Z7';
const test_ = { mode: 'test' as const };
const live = { mode: 'live' as const };

let stage: Stage;
beforeEach(() => (stage = new Stage()));
afterEach(() => stage.close());

async function linkThat(...given: Parameters<typeof startScriptedLink>): Promise<ScriptedLink> {
  const link = await startScriptedLink(...given);
  stage.onClose(() => link.close());
  return link;
}

const post = async (service: Harness, url: string, payload: object, context: object = test_) => {
  const answer = await service.call({ method: 'POST', url, payload, context });
  return { statusCode: answer.statusCode, ...answer.json() };
};
const get = async (service: Harness, url: string, context: object = test_) => {
  const answer = await service.call({ method: 'GET', url, context });
  return { statusCode: answer.statusCode, ...answer.json() };
};

/** Opens sessions and answers everything else as it is told. */
function scripted(otherwise: (frame: Frame, say: (answer: Frame | string) => void) => void) {
  let sessions = 0;
  return (frame: Frame, say: (answer: Frame | string) => void): void => {
    if (frame.type === 'start') say({ type: 'captcha', requestId: frame.requestId, sessionId: `up-${++sessions}`, captcha: PIXEL });
    else otherwise(frame, say);
  };
}

describe('one worker', () => {
  test('carries 200 Aadhaar sessions at once, each with its own answer', async () => {
    const { url } = await stage.sandbox();
    const aadhaar = stage.aadhaar([await stage.worker({ SANDBOX_URL: url })]);
    const flow = async (index: number) => {
      const as = { ...test_, subscriptionId: `subscription-${index}` };
      const { sessionId } = await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER }, as);
      const rejected = await post(aadhaar, '/aadhaar/captcha', { sessionId, captcha: 'WRONG' }, as);
      const solved = await post(aadhaar, '/aadhaar/captcha', { sessionId, captcha: 'TR23P' }, as);
      const verified = await post(aadhaar, '/aadhaar/otp', { sessionId, otp: '123456' }, as);
      return [sessionId, rejected.status, solved.status, verified.status, verified.sessionId];
    };
    const flows = await Promise.all(Array.from({ length: 200 }, (_, index) => flow(index)));
    for (const [id, ...statuses] of flows) expect(statuses).toEqual(['captcha', 'otp', 'success', id]);
    expect(new Set(flows.map(([id]) => id)).size).toBe(200);
  });

  test('does not hold more sessions than it may', async () => {
    const { url } = await stage.sandbox();
    const gst = stage.gst([await stage.worker({ SANDBOX_URL: url, IDENTITY_MOST_SESSIONS: '2' })]);
    expect([(await get(gst, '/gst/start')).statusCode, (await get(gst, '/gst/start')).statusCode]).toEqual([200, 200]);
    expect(await get(gst, '/gst/start')).toMatchObject({ statusCode: 503, code: 'service_not_ready' });
  });
});

test('a fault of our own is 500 processing_failed without its text, and ends the session', async () => {
  const broken = (): never => {
    throw new TypeError('a secret detail');
  };
  const image = { bytes: Buffer.from(PIXEL, 'base64'), mediaType: 'image/png' as const };
  const upstream = { start: () => Promise.resolve({ upstreamId: 'u', image }), refresh: broken, submit: broken };
  const unused = { AadhaarStart: broken, AadhaarCaptcha: broken, AadhaarOtp: broken };
  const worker = await serveWorker({
    name: 'identity',
    service: loadService(join(root, 'protos/identity/v1/identity.proto'), 'identity.v1.IdentityWorker'),
    handlers: { ...createGstHandlers({ upstream, clock: testClock, mostSessions: 10 }), ...unused },
    host: '127.0.0.1',
    port: 0,
    log: stage.log,
  });
  stage.onClose(() => worker.close(50));
  const gst = stage.gst([worker]);
  const { sessionId } = await get(gst, '/gst/start');
  const answer = await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' });
  expect(answer).toMatchObject({ statusCode: 500, code: 'processing_failed' });
  expect(JSON.stringify(answer)).not.toContain('secret detail');
  expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' })).toMatchObject({ statusCode: 400, code: 'session_expired' });
});

describe('the upstream link', () => {
  test('dropped in the middle of a submit is 502; the session goes on when the upstream still knows it', async () => {
    let submits = 0;
    const link = await linkThat(
      scripted((frame, say) => {
        if (++submits > 1) say({ type: 'result', sessionId: frame.sessionId, payload: { gstin: frame.gstin } });
        else link.drop();
      }),
    );
    const gst = stage.gst([await stage.worker({ GST_LINK_URL: link.url })]);
    const { sessionId } = await get(gst, '/gst/start', live);
    const entry = { sessionId, GSTIN, captcha: 'x' };
    expect(await post(gst, '/gst/data', entry, live)).toMatchObject({ statusCode: 502, code: 'upstream_failed', reason: 'unreachable' });
    expect(await post(gst, '/gst/data', entry, live)).toMatchObject({ statusCode: 200, gstin: GSTIN });
  });

  test('that forgot the session is 400 session_expired', async () => {
    const link = await linkThat(
      scripted((frame, say) => say({ type: 'error', sessionId: frame.sessionId, code: 'session_unknown', message: 'm' })),
    );
    const worker = await stage.worker({ GST_LINK_URL: link.url, AADHAAR_LINK_URL: link.url });
    const [gst, aadhaar] = [stage.gst([worker]), stage.aadhaar([worker])];
    const { sessionId } = await get(gst, '/gst/start', live);
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, live)).toMatchObject({
      statusCode: 400,
      code: 'session_expired',
    });
    const started = await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER }, live);
    const next = { sessionId: started.sessionId, captcha: 'x' };
    expect(await post(aadhaar, '/aadhaar/captcha', next, live)).toMatchObject({ statusCode: 400, code: 'session_expired' });
  });

  test('that answers slowly is 504, ends the session, and its late record reaches nobody', async () => {
    const link = await linkThat(scripted(() => undefined));
    const gst = stage.gst([await stage.worker({ GST_LINK_URL: link.url, IDENTITY_MESSAGE_TIMEOUT_MS: '1000' })]);
    const { sessionId } = await get(gst, '/gst/start', live);
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, live)).toMatchObject({
      statusCode: 504,
      code: 'upstream_timeout',
    });
    for (const socket of link.sockets) socket.send(JSON.stringify({ type: 'result', sessionId: 'up-1', payload: { gstin: GSTIN } }));
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, live)).toMatchObject({
      statusCode: 400,
      code: 'session_expired',
    });
  });

  test('that never finishes its handshake is 504', async () => {
    const silent = createServer(() => undefined).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    stage.onClose(() => silent.close());
    const { port } = silent.address() as AddressInfo;
    const worker = await stage.worker({ GST_LINK_URL: `ws://127.0.0.1:${port}`, IDENTITY_CONNECT_TIMEOUT_MS: '100' });
    expect(await get(stage.gst([worker]), '/gst/start', live)).toMatchObject({ statusCode: 504, code: 'upstream_timeout' });
  });

  test.each([
    ['an unknown error code', { type: 'error', code: 'surprise' }, 502],
    ['a time-out of its own', { type: 'error', code: 'timeout' }, 504],
    ['a record of somebody else', { type: 'result', payload: { gstin: '33AAAGM0289C1DZ' } }, 502],
    ['a payload that is a list', { type: 'result', payload: [] }, 502],
    ['no payload', { type: 'result' }, 502],
    ['another kind of answer', { type: 'otp_required' }, 502],
  ])('that answers with %s fails the submit, not the session', async (_what, answer, statusCode) => {
    let submits = 0;
    const link = await linkThat(
      scripted((frame, say) => {
        say({ ...(submits++ === 0 ? answer : { type: 'result', payload: { gstin: frame.gstin } }), sessionId: frame.sessionId });
      }),
    );
    const gst = stage.gst([await stage.worker({ GST_LINK_URL: link.url })]);
    const { sessionId } = await get(gst, '/gst/start', live);
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, live)).toMatchObject({ statusCode });
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, live)).toMatchObject({ statusCode: 200 });
  });

  test('whose captcha is no image, or says the number of the holder, cannot pass it on', async () => {
    const link = await linkThat((frame, say) => {
      if (frame.type === 'start')
        say({ type: 'captcha', requestId: frame.requestId, sessionId: 'u', captcha: frame.aadhaar ? PIXEL : 'bm8=' });
      else if (frame.type === 'captcha') say({ type: 'otp_required', sessionId: 'u' });
      else
        say({
          type: 'result',
          sessionId: 'u',
          payload: { name: `H ${NUMBER}`, aadhaar: NUMBER, address: { house: '9999 9999 0019', Bad: 'x' } },
        });
    });
    const worker = await stage.worker({ GST_LINK_URL: link.url, AADHAAR_LINK_URL: link.url });
    expect(await get(stage.gst([worker]), '/gst/start', live)).toMatchObject({ statusCode: 502, reason: 'bad_response' });
    const aadhaar = stage.aadhaar([worker]);
    const { sessionId } = await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER }, live);
    await post(aadhaar, '/aadhaar/captcha', { sessionId, captcha: 'x' }, live);
    const { data } = await post(aadhaar, '/aadhaar/otp', { sessionId, otp: '123456' }, live);
    expect(data).toMatchObject({
      name: 'H XXXXXXXX0019',
      address: { house: 'XXXXXXXX0019' },
      masked_aadhaar: 'XXXXXXXX0019',
      gender: null,
    });
    expect(JSON.stringify(data)).not.toContain('9999');
  });

  test('a caller that leaves frees the session’s place: its step ends in the worker', async () => {
    const link = await linkThat(scripted(() => undefined));
    const gst = stage.gst([await stage.worker({ GST_LINK_URL: link.url, IDENTITY_MOST_SESSIONS: '1' })]);
    const port = await listening(gst);
    const { sessionId } = await get(gst, '/gst/start', live);
    const leaving = new AbortController();
    const body = JSON.stringify({ sessionId, GSTIN, captcha: 'x' });
    const headers = { ...proofHeader(contextFor('api-gst', live)), 'content-type': 'application/json' };
    const waiting = fetch(`http://127.0.0.1:${port}/gst/data`, { method: 'POST', headers, body, signal: leaving.signal });
    await eventually(() => link.received.length === 2);
    leaving.abort();
    await expect(waiting).rejects.toThrow();
    await eventually(async () => (await get(gst, '/gst/start', live)).statusCode === 200);
  });
});

describe('several workers', () => {
  let redis: TestRedis;
  beforeAll(async () => (redis = await startTestRedis()));
  afterAll(() => redis.close());

  test('every replica of a service reaches the worker that owns the session', async () => {
    const { url } = await stage.sandbox();
    const workers = [
      await stage.worker({ SANDBOX_URL: url }),
      await stage.worker({ SANDBOX_URL: url }),
      await stage.worker({ SANDBOX_URL: url }),
    ];
    const replicas = [stage.gst(workers, { REDIS_URL: redis.url }), stage.gst(workers, { REDIS_URL: redis.url })];
    const [one, two] = replicas as [Harness, Harness];
    const ids = await Promise.all(Array.from({ length: 9 }, async () => (await get(one, '/gst/start')).sessionId));
    for (const sessionId of ids) {
      expect((await get(two, `/gst/refresh_captcha?sessionId=${sessionId}`)).statusCode).toBe(200);
      expect(await post(two, '/gst/data', { sessionId, GSTIN, captcha: 'TR23P' })).toMatchObject({ statusCode: 200, gstin: GSTIN });
    }
    const keys = JSON.stringify(await redis.command('KEYS', '*'));
    for (const sessionId of ids) expect(keys).not.toContain(sessionId);
  });

  test('a replica that cannot ask Redis serves its own sessions and says 503 for others', async () => {
    const own = await startTestRedis();
    stage.onClose(() => own.close());
    const { url } = await stage.sandbox();
    const workers = [await stage.worker({ SANDBOX_URL: url }), await stage.worker({ SANDBOX_URL: url })];
    const [one, two] = [stage.gst(workers, { REDIS_URL: own.url }), stage.gst(workers, { REDIS_URL: own.url })];
    await get(one, '/gst/start');
    await own.kill();
    const { sessionId } = await get(one, '/gst/start');
    expect((await get(two, `/gst/refresh_captcha?sessionId=${sessionId}`)).code).toBe('service_not_ready');
    expect((await get(one, `/gst/refresh_captcha?sessionId=${sessionId}`)).statusCode).toBe(200);
  });
});

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
    const link = await linkThat(scripted(() => dying?.kill('SIGKILL')));
    const worker = await startProcess({ GST_LINK_URL: link.url });
    const dying: ChildProcess | undefined = worker.child;
    const gst = stage.gst([worker]);
    const { sessionId } = await get(gst, '/gst/start', live);
    expect(await post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, live)).toMatchObject({
      statusCode: 400,
      code: 'session_expired',
    });
  });

  test('SIGTERM lets a running step finish and ends with 0', async () => {
    let release: () => void = () => undefined;
    const link = await linkThat(
      scripted((frame, say) => (release = () => say({ type: 'result', sessionId: frame.sessionId, payload: {} }))),
    );
    const { child, address } = await startProcess({ GST_LINK_URL: link.url });
    const gst = stage.gst([{ address }]);
    const { sessionId } = await get(gst, '/gst/start', live);
    const answer = post(gst, '/gst/data', { sessionId, GSTIN, captcha: 'x' }, live);
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

test('a port on which nobody listens is not a worker: 502', async () => {
  const aadhaar = stage.aadhaar([{ address: `127.0.0.1:${await closedPort()}` }]);
  expect(await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER })).toMatchObject({ statusCode: 502, code: 'upstream_failed' });
});
