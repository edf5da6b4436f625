import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { generateApiKey } from '../../plugins/core/access/api-key';
import { migrateOnce } from '../../cli/container/migrate-once';
import { migrate } from '../../plugins/stores/postgres/migrate';
import { createCustomer } from '../../services/selling/customers/create-customer';
import { setCustomerLimits } from '../../services/selling/customers/customer-limits';
import { createKey } from '../../services/selling/keys/create-key';
import { revokeKey } from '../../services/selling/keys/set-key-state';
import { eventually } from '../support/eventually';
import { openedForTests } from '../support/opened';
import { burst } from '../support/system/exact-burst';
import { closeConnections, send } from '../support/http';
import { expectMeasured, isMeasured } from '../support/measured';
import { NEXT_MIGRATION_NAME, nextVersionMigrations } from '../support/system/next-version';
import { startNode, type GatewayNode } from '../support/system/node';
import { testDatabase } from '../support/postgres/postgres';
import { startTestRedis } from '../support/redis/redis';
import { lastAdmittedAfter } from '../support/system/revocation';
import { startVahaan } from '../support/system/vahaan';
import { isUndecided, sayExcused, startTurnMeter } from '../support/system/turn-meter';
import { newKey } from '../contracts/access-records';

const signingKeys = `test:${randomBytes(32).toString('base64')}`;
const customer = 'upgrade@example.com';
const PAUSE_MS = 75;
/** A few seconds' worth for the loops below, a fifth where nothing is measured. */
const UNSEEN_KEYS = isMeasured ? 200 : 40;

describe('a database that moves to the next version', () => {
  afterAll(closeConnections);
  const opened = openedForTests();
  const database = opened.use(testDatabase);
  const redis = opened.use(startTestRedis);
  const service = opened.use(() => startVahaan(signingKeys));
  const start = (): Promise<GatewayNode> =>
    opened.keep(startNode({ databaseUrl: database.url, redisUrl: redis.url, signingKeys, upstreams: service.upstreams }));
  const nodes: GatewayNode[] = [];
  const failed: string[] = [];
  let sent = 0;

  beforeAll(async () => {
    await createCustomer(database.pool, { email: customer, actor: 'test' });
    await setCustomerLimits(database.pool, { customer, limits: { keys: 10 * UNSEEN_KEYS }, actor: 'test' });
    nodes.push(await start());
  });

  const limits = { daily: 1_000_000, monthly: 1_000_000 };
  const anotherKey = () => createKey(database.pool, { customer, products: ['api-vahaan'], mode: 'test', ...limits, actor: 'test' });
  const urls = (): string[] => nodes.map(({ gateway }) => `${gateway}/vahaan`);

  /** Known keys, keys that the nodes have to look up, and keys that were never issued, on every node, while `work` runs. */
  async function underLoad(work: () => Promise<unknown>): Promise<void> {
    const { key: known } = await anotherKey();
    // Made beforehand: whoever makes one waits for the tables as well.
    const unseen = await Promise.all(Array.from({ length: UNSEEN_KEYS }, async () => (await anotherKey()).key));
    let running = true;
    /** What was refused although a request need not be, unless the machine gave the node or its stores no turns. */
    const suspects: { what: string; isExcused: () => boolean }[] = [];
    const meter = startTurnMeter();
    const expectStatus = async (node: GatewayNode, key: string, status: number): Promise<void> => {
      const sentAt = performance.now();
      const got = await send(`${node.gateway}/vahaan`, { headers: { 'X-API-Key': key } }).catch(() => ({ status: 0, text: '' }));
      sent++;
      if (got.status === status) return;
      const answer = { sentAt, tookMs: performance.now() - sentAt };
      suspects.push({ what: `${got.status} instead of ${status}`, isExcused: () => isUndecided(got) && meter.wasShortOfTurns(answer) });
    };
    const loop = async (node: GatewayNode): Promise<void> => {
      while (running) {
        await expectStatus(node, known, 200);
        await expectStatus(node, generateApiKey('test'), 401);
        await expectStatus(node, unseen.pop() ?? known, 200);
        await sleep(PAUSE_MS);
      }
    };
    const loops = Promise.all(nodes.flatMap((node) => [loop(node), loop(node)]));
    const before = sent;
    await eventually(() => sent > before + 10);
    await work().finally(() => (running = false));
    await loops;
    meter.stop();
    const unexcused = suspects.filter(({ isExcused }) => !isExcused());
    sayExcused(suspects.length - unexcused.length);
    failed.push(...unexcused.map(({ what }) => what));
  }

  it('is migrated by two starters at once under a plugin server of the old version, which fails no request', async () => {
    // A transaction that is in the way for longer than a request would wait.
    const blocker = await database.pool.connect();
    await blocker.query('BEGIN');
    await blocker.query('SELECT count(*) FROM credential');
    const folder = nextVersionMigrations();
    await underLoad(async () => {
      const starters = Promise.all([migrate(database.url, { folder }), migrate(database.url, { folder })]);
      await sleep(3_000);
      await blocker.query('COMMIT');
      expect((await starters).flat()).toEqual([NEXT_MIGRATION_NAME]);
      const before = sent;
      await eventually(() => sent > before + 20);
    }).finally(() => blocker.release());
    expect(failed).toEqual([]);
  });

  it('takes a plugin server of the old version that starts after it', async () => {
    nodes.push(await start());
    await underLoad(async () => {
      const before = sent;
      await eventually(() => sent > before + 40);
    });
    expect(failed).toEqual([]);
  });

  it('lets both versions count as one', async () => {
    const counts = await burst({
      urls: urls(),
      newKey: (daily) => newKey(database.pool, { products: ['api-vahaan'], mode: 'test', daily, monthly: 1_000_000 }),
      metrics: nodes.map((node) => (name) => node.metric(name)),
      left: 41,
      requests: 100,
    });
    expect(counts).toEqual({ 200: 41, 429: 59 });
  });

  it('lets both versions refuse a revoked key within a second', async () => {
    const { key, id } = await anotherKey();
    const revoke = (): Promise<unknown> => revokeKey(database.pool, { id, actor: 'test' });
    for (const ms of await lastAdmittedAfter({ urls: urls(), key, revoke })) expectMeasured(ms, 1_000);
  });

  it('is left alone by the migrations of the old version', async () => {
    await expect(migrateOnce(database.url)).rejects.toThrow(`newer version of Tollgate (migration ${NEXT_MIGRATION_NAME})`);
  });
});
