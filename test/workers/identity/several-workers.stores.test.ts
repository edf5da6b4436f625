import { type Harness } from '../../kit/harness';
import { startTestRedis, type TestRedis } from '../../support/redis/redis';
import { get, post } from './support/ask';
import { Stage } from './support/stage';

const GSTIN = '27AAACR5055K1Z7';

let stage: Stage;
beforeEach(() => (stage = new Stage()));
afterEach(() => stage.close());

describe('several workers', () => {
  let redis: TestRedis;
  beforeAll(async () => (redis = await startTestRedis()));
  afterAll(() => redis?.close());

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
