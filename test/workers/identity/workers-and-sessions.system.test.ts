import { loadWorkerService } from '../../../services/kit/worker/load-proto';
import { serveWorker } from '../../../services/kit/worker/serve-worker';
import { createGstHandlers } from '../../../services/workers/identity/gst-handlers';
import { testClock } from '../../kit/test-clock';
import { asTest, get, post, asLive } from './support/ask';
import { PIXEL, openingSessions } from '../../support/scripted-link';
import { Stage } from './support/stage';
import { type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { eventually } from '../../support/eventually';
import { startProgram } from '../../support/system/program';
import { type Harness } from '../../kit/harness';
import { startTestRedis } from '../../support/redis/redis';
import { type SandboxExample } from '../../../services/sandbox/sandbox-upstream';
import { inTestAll } from '../../support/scenes';
import { useOpened } from '../../support/opened';

describe('a worker and its sessions', () => {
  const NUMBER = '999999990019';
  const GSTIN = '27AAACR5055K1Z7';

  let stage: Stage;
  beforeEach(() => (stage = new Stage()));
  afterEach(() => stage.close());

  describe('one worker', () => {
    it('carries 60 Aadhaar sessions at once, each with its own answer', async () => {
      const { url } = await stage.sandbox();
      const aadhaar = stage.aadhaar([await stage.worker({ SANDBOX_URL: url })]);
      const flow = async (index: number) => {
        const as = { ...asTest, subscriptionId: `subscription-${index}` };
        const { sessionId } = await post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER }, as);
        const rejected = await post(aadhaar, '/aadhaar/captcha', { sessionId, captcha: 'WRONG' }, as);
        const solved = await post(aadhaar, '/aadhaar/captcha', { sessionId, captcha: 'TR23P' }, as);
        const verified = await post(aadhaar, '/aadhaar/otp', { sessionId, otp: '123456' }, as);
        return [sessionId, rejected.status, solved.status, verified.status, verified.sessionId];
      };
      const flows = await Promise.all(Array.from({ length: 60 }, (_, index) => flow(index)));
      for (const [id, ...statuses] of flows) expect(statuses).toEqual(['captcha', 'otp', 'success', id]);
      expect(new Set(flows.map(([id]) => id)).size).toBe(60);
    });

    it('one subscription cannot fill the table: its next start is 429, and others go on', async () => {
      const { url } = await stage.sandbox();
      const limits = { IDENTITY_MOST_SESSIONS: '6', IDENTITY_MOST_SESSIONS_OF_ONE: '2' };
      const workers = [await stage.worker({ SANDBOX_URL: url, ...limits })];
      const [aadhaar, gst] = [stage.aadhaar(workers), stage.gst(workers)];
      const starts = [
        (as: object) => post(aadhaar, '/aadhaar/start', { aadhaar: NUMBER }, { ...asTest, ...as }),
        (as: object) => get(gst, '/gst/start', { ...asTest, ...as }),
      ];
      for (const start of starts) {
        expect([(await start({})).statusCode, (await start({})).statusCode]).toEqual([200, 200]);
        const detail = 'This subscription has 2 open sessions. Finish one, or wait until one has ended.';
        expect(await start({})).toMatchObject({ statusCode: 429, code: 'concurrency_exceeded', detail });
        expect(await start({ subscriptionId: 'another' })).toMatchObject({ statusCode: 200 });
        // Test keys have half of the table.
        expect(await start({ subscriptionId: 'a third' })).toMatchObject({ statusCode: 503, code: 'service_not_ready' });
      }
    });
  });

  it('a fault of our own is 500 processing_failed without its text, and ends the session', async () => {
    const broken = (): never => {
      throw new TypeError('a secret detail');
    };
    const image = { bytes: Buffer.from(PIXEL, 'base64'), mediaType: 'image/png' as const };
    const upstream = { start: () => Promise.resolve({ upstreamId: 'u', image }), refresh: broken, submit: broken };
    const unused = { AadhaarStart: broken, AadhaarCaptcha: broken, AadhaarOtp: broken };
    const worker = await serveWorker({
      name: 'identity',
      service: loadWorkerService('identity'),
      handlers: { ...createGstHandlers({ upstream, clock: testClock, sessions: { most: 10, mostOfOne: 10 } }), ...unused },
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
});

describe('its processes', () => {
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
});

describe('its replicas', () => {
  const GSTIN = '27AAACR5055K1Z7';

  let stage: Stage;
  beforeEach(() => (stage = new Stage()));
  afterEach(() => stage.close());

  describe('several workers', () => {
    const redis = useOpened(startTestRedis);

    it('every replica of a service reaches the worker that owns the session', async () => {
      const { url } = await stage.sandbox();
      const workers = [
        await stage.worker({ SANDBOX_URL: url }),
        await stage.worker({ SANDBOX_URL: url }),
        await stage.worker({ SANDBOX_URL: url }),
      ];
      const replicas = [stage.gst(workers, { REDIS_URL: redis.url }), stage.gst(workers, { REDIS_URL: redis.url })];
      const [one, two] = replicas as [Harness, Harness];
      const ids: string[] = await Promise.all(Array.from({ length: 9 }, async () => (await get(one, '/gst/start')).sessionId));
      for (const sessionId of ids) {
        expect((await get(two, `/gst/refresh_captcha?sessionId=${sessionId}`)).statusCode).toBe(200);
        expect(await post(two, '/gst/data', { sessionId, GSTIN, captcha: 'TR23P' })).toMatchObject({ statusCode: 200, gstin: GSTIN });
      }
      const keys = JSON.stringify(await redis.command('KEYS', '*'));
      for (const sessionId of ids) expect(keys).not.toContain(sessionId);
    });

    it('a replica that cannot ask Redis serves its own sessions and says 503 for others', async () => {
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
});

describe('its sandbox', () => {
  const stage = useOpened(() => new Stage());

  /** The sandbox's list is what test keys get whichever of its simulators the worker asks: the acceptance tests ask over the links in `npm test`. */
  inTestAll('every listed input yields what its entry says from the OTP provider and the tax portal too', async () => {
    const { url } = await stage.sandbox({ aadhaar: 'provider', gst: 'portal' });
    const servicesOf = async (env: Record<string, string>) => {
      const sources = { AADHAAR_TEST_SOURCE: 'provider', GST_TEST_SOURCE: 'portal' };
      const workers = [await stage.worker({ SANDBOX_URL: url, ...sources, ...env })];
      return { gst: stage.gst(workers), aadhaar: stage.aadhaar(workers) };
    };
    const services = await servicesOf({});
    // Does not wait for a silent upstream.
    const hasty = await servicesOf({ IDENTITY_MESSAGE_TIMEOUT_MS: '10000' });

    /** The steps before a route's own, with the input that the example gives. */
    async function play({ route, method, input, outcome }: SandboxExample): Promise<{ statusCode: number; body: any }> {
      const { gst, aadhaar } = outcome === 'timeout' ? hasty : services;
      const service = route.startsWith('/gst') ? gst : aadhaar;
      let sessionId: string | undefined;
      const step = async (path: string, fields: Record<string, unknown>, by: 'GET' | 'POST') => {
        const given = JSON.parse(JSON.stringify({ ...fields, sessionId }));
        const answer = await service.call({ method: by, url: path, context: asTest, [by === 'GET' ? 'query' : 'payload']: given });
        return { statusCode: answer.statusCode, body: answer.json() };
      };
      if (['/gst/data', '/gst/refresh_captcha'].includes(route)) ({ sessionId } = (await step('/gst/start', {}, 'GET')).body);
      if (['/aadhaar/captcha', '/aadhaar/otp'].includes(route))
        ({ sessionId } = (await step('/aadhaar/start', { aadhaar: input.aadhaar }, 'POST')).body);
      if (route === '/aadhaar/otp') await step('/aadhaar/captcha', { captcha: input.captcha }, 'POST');
      // The whole input is sent: what earlier steps needed is ignored.
      return step(route, { ...input }, method);
    }

    const all = (await (await fetch(url)).json()) as SandboxExample[];
    const examples = all.filter(({ product }) => product === 'api-gst' || product === 'api-aadhaar');
    const played = await Promise.all(examples.map(async (example) => ({ ...example, answer: await play(example) })));
    for (const { outcome, route, yields, answer } of played) {
      const promised = Number(/\b([245]\d\d)\b/.exec(yields.replace(/^.*: (?=\d{3})/, ''))?.[1]);
      expect([route, outcome, answer.statusCode]).toEqual([route, outcome, promised]);
      const code = answer.body.code ?? answer.body.status;
      if (['captcha_rejected', 'not_found', 'otp_invalid', 'otp_expired'].includes(outcome) && route !== '/aadhaar/captcha')
        expect(code).toBe(outcome);
      if (outcome === 'otp_throttled') expect(answer.body).toMatchObject({ code: 'otp_throttled', retry_after: 900 });
      if (outcome === 'timeout') expect(code).toBe('upstream_timeout');
    }
    expect(played).toHaveLength(23);
  });
});
