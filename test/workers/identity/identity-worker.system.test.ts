import { loadWorkerService } from '../../../services/kit/worker/load-proto';
import { serveWorker } from '../../../services/kit/worker/serve-worker';
import { createGstHandlers } from '../../../services/workers/identity/gst-handlers';
import { testClock } from '../../kit/test-clock';
import { asTest, get, post } from './support/ask';
import { PIXEL } from '../../support/scripted-link';
import { Stage } from './support/stage';

const NUMBER = '999999990019';
const GSTIN = '27AAACR5055K1Z7';

let stage: Stage;
beforeEach(() => (stage = new Stage()));
afterEach(() => stage.close());

describe('one worker', () => {
  it('carries 200 Aadhaar sessions at once, each with its own answer', async () => {
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
    const flows = await Promise.all(Array.from({ length: 200 }, (_, index) => flow(index)));
    for (const [id, ...statuses] of flows) expect(statuses).toEqual(['captcha', 'otp', 'success', id]);
    expect(new Set(flows.map(([id]) => id)).size).toBe(200);
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
