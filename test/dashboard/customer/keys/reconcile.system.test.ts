import { randomBytes, randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { systemClock } from '../../../../plugins/core/ports';
import { counterOf } from '../../../../plugins/core/access/subscription';
import { createCustomer } from '../../../../services/selling/customers/create-customer';
import { createKey } from '../../../../services/selling/keys/create-key';
import { type QuotaStore } from '../../../../plugins/stores/quota-store';
import { type Usage, usageEndpoints } from '../../../../services/dashboard/contract/usage';
import { type Call } from '../../../../services/dashboard/http/bind-endpoint';
import { shapeAnswer } from '../../../../services/dashboard/http/shape-answer';
import { usageHandlers } from '../../../../services/dashboard/customer/requests/usage-handlers';
import { type DashboardDeps } from '../../../../services/dashboard/http/dashboard-deps';
import { SERVICES } from '../../../support/services';
import { runServices } from '../../../../services/products/run-services';
import { createSandboxUpstreams } from '../../../../services/sandbox/sandbox-upstreams';
import { startSandbox } from '../../../../services/sandbox/start-sandbox';
import { storeNode } from '../../../stores/quota/harness';
import { eventually } from '../../../support/eventually';
import { closeConnections, send, type Reply } from '../../../support/http';
import { startNode, type GatewayNode } from '../../../support/system/node';
import { testDatabase } from '../../../support/postgres/postgres';
import { startTestRedis } from '../../../support/redis/redis';
import { CATALOGUE } from '../../../support/catalogue';
import { openedForTests } from '../../../support/opened';
import { firstOf } from '../../../support/scenes';

const timeZone = 'Asia/Kolkata';
const signingKeys = `test:${randomBytes(32).toString('base64')}`;

// test/stores/quota counts exactly in both.
describe.each(firstOf(['Redis', 'Postgres'] as const))('usage that two nodes count in %s', (store) => {
  let db: Pool;
  let sandbox: Awaited<ReturnType<typeof startSandbox>>;
  let nodes: GatewayNode[];
  let counters: QuotaStore;
  const opened = openedForTests();

  beforeAll(async () => {
    const redis = store === 'Redis' ? await opened.keep(startTestRedis()) : undefined;
    const database = await opened.keep(testDatabase());
    db = database.pool;
    const upstreams = createSandboxUpstreams();
    sandbox = await opened.keep(startSandbox({ host: '127.0.0.1', port: 0, upstreams }));
    const environment = {
      TOLLGATE_SIGNING_KEYS: signingKeys,
      DATABASE_URL: database.url,
      REDIS_URL: redis?.url,
      LOG_LEVEL: 'silent',
      SANDBOX_URL: `http://127.0.0.1:${sandbox.port}`,
      SERVICE_PORT: '0',
      PRIVATE_PORT: '0',
    };
    const { services } = await opened.keep(runServices([SERVICES.pincode], environment));
    const shared = {
      databaseUrl: database.url,
      signingKeys,
      upstreams: { ...services },
      ...(redis ? { redisUrl: redis.url } : {}),
    };
    nodes = await Promise.all([1, 2].map(() => opened.keep(startNode(shared))));
    counters = await opened.keep(storeNode({ pool: db, redisUrl: redis?.url }));
  });

  afterAll(closeConnections);

  async function call(key: string, query: string, count: number): Promise<number[]> {
    const calls = Array.from({ length: count }, (_, index): Promise<Reply> => {
      return send(`${nodes[index % 2]?.gateway ?? ''}/pincode?${query}`, { headers: { 'X-API-Key': key } });
    });
    return (await Promise.all(calls)).map(({ status }) => status);
  }

  /** What the endpoint answers to the key's customer for yesterday and today: midnight may pass meanwhile. */
  async function usageOf(customerId: string): Promise<Usage> {
    const catalogue = () => Promise.resolve(CATALOGUE);
    const deps = { db, catalogue, clock: systemClock, timeZone } as unknown as DashboardDeps;
    const dayOf = (ms: number): string => new Intl.DateTimeFormat('en-CA', { timeZone }).format(ms);
    const query = { from: dayOf(Date.now() - 86_400_000), to: dayOf(Date.now()) };
    const caller = { customerId, organisation: '', address: '', email: '', actor: { name: 'test', from: '' } };
    const call = { query: { ...query, by: 'day' }, caller } as Call<'GET /usage'>;
    return shapeAnswer(usageEndpoints['GET /usage'].answer, await usageHandlers['GET /usage'](call, deps));
  }

  async function failingInput(): Promise<string> {
    const listed: object = (await send(`http://127.0.0.1:${sandbox.port}/`)).json();
    const entries: any = Object.values(listed).find((each) => Array.isArray(each)) ?? listed;
    const { input } = entries.find((each: any) => each.product === 'api-pincode' && each.outcome === 'provider_down');
    return new URLSearchParams(input).toString();
  }

  it('is the same in the ledger, in the counter and for the customer: charged, given back and refused', async () => {
    const email = `${randomUUID()}@example.com`;
    const { id: customerId } = await createCustomer(db, { email, actor: 'test' });
    const terms = { products: ['api-pincode'], mode: 'test', daily: 12, monthly: 500 } as const;
    const key = await createKey(db, { customer: customerId, ...terms, actor: 'test' });
    const id = key.subscriptions[0]?.id ?? '';
    const subscriptionId = counterOf(id, 'test');
    expect(new Set(await call(key.key, await failingInput(), 6))).toEqual(new Set([502]));
    // An answer waits a quarter of a second for its refund, which may come later.
    await eventually(async () => (await counters.counter.readStanding(subscriptionId)).usedMonthly === 0);
    const answered = await call(key.key, 'country=IN&pin=110001', 20);
    const admitted = answered.filter((status) => status === 200).length;
    expect([admitted, answered.filter((status) => status === 429).length]).toEqual([12, 8]);

    const sum = (each: readonly number[]): number => each.reduce((total, one) => total + one, 0);
    const summed = ({ days, refusals }: Usage): object => ({
      charged: sum(days.map(({ charged }) => charged)),
      refunded: sum(days.map(({ refunded }) => refunded)),
      used: sum(days.map(({ used }) => used)),
      refused: sum(refusals.map(({ count }) => count)),
    });
    // On a machine short of turns Redis may grant a unit after its request was counted elsewhere; such units are given back too, and
    // stand on both sides.
    const settled = async (): Promise<boolean> => {
      const { charged, refunded, used, refused } = summed(await usageOf(customerId)) as Record<string, number>;
      return used === 12 && refused === 8 && (refunded ?? 0) >= 6 && charged === used + (refunded ?? 0);
    };
    await eventually(settled).catch(async () => {
      expect(summed(await usageOf(customerId))).toEqual({ charged: 18, refunded: 6, used: 12, refused: 8 });
    });
    const usage = await usageOf(customerId);
    expect(new Set(usage.days.map(({ product, mode }) => `${product} ${mode}`))).toEqual(new Set(['api-pincode test']));
    expect(new Set(usage.refusals.map(({ code }) => code))).toEqual(new Set(['quota_daily_exceeded']));
    const standing = await counters.counter.readStanding(subscriptionId);
    expect(standing.usedMonthly).toBe(12);
    const { rows } = await db.query(
      'SELECT sum(spent_redis + spent_postgres)::int AS charged, sum(refunded)::int AS refunded FROM usage WHERE subscription_id = $1',
      [subscriptionId],
    );
    expect(summed(usage)).toMatchObject(rows[0]);
    const [subscription] = usage.subscriptions;
    expect(subscription).toMatchObject({
      id,
      daily: { used: 0 },
      monthly: { used: 0 },
      test: { daily: { used: standing.usedDaily }, monthly: { used: standing.usedMonthly } },
    });
  });
});
