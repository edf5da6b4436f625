import { createServer, type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { systemClock } from '../../plugins/core/ports';
import { createWebhook } from '../../plugins/stores/postgres/webhooks/create-webhook';
import { createPool } from '../../plugins/stores/postgres/pool';
import { alertSettings, type AlertWork, startAlerts } from '../../services/dashboard/api/alerts/start-alerts';
import { readSettings } from '../../plugins/core/settings';
import { createLog } from '../../services/kit/log';
import { newKey } from '../contracts/access-records';
import { eventually } from '../support/eventually';
import { testDatabase, type TestDatabase } from '../support/postgres/postgres';

let database: TestDatabase;
let server: Server;
let received: string[];
const running: AlertWork[] = [];

beforeAll(async () => {
  database = await testDatabase();
  server = createServer((request, response) => {
    received.push(String(request.headers['webhook-id']));
    response.end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
});
beforeEach(() => (received = []));
afterEach(async () => {
  for (const work of running.splice(0)) await work.close();
});
afterAll(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
  await database.close();
});

const settingsOf = (env: Record<string, string>) => readSettings({ alerts: alertSettings }, env).alerts;
function start(db = database.pool): void {
  const settings = settingsOf({ DASHBOARD_WEBHOOKS_ALLOW_PRIVATE: 'true', DASHBOARD_WEBHOOKS_RETRY_SECONDS: '0,0' });
  const log = createLog('test', { level: 'silent' });
  running.push(startAlerts({ db, clock: systemClock, log, timeZone: 'Asia/Kolkata', settings, evaluateMs: 20, pollMs: 20 }));
}

/** The day's and the month's limit: two alerts. */
async function useAll(daily: number): Promise<void> {
  const key = await newKey(database.pool, { daily, monthly: daily });
  const { port } = server.address() as AddressInfo;
  await createWebhook(database.pool, { customerId: key.customerId, url: `http://127.0.0.1:${port}/`, actor: 'test' });
  await database.pool.query(
    "INSERT INTO usage (subscription_id, day, spent_redis) VALUES ($1, (now() AT TIME ZONE 'Asia/Kolkata')::date, $2)",
    [key.subscriptions[0]?.id, daily],
  );
}
const isQuiet = async (): Promise<boolean> =>
  (await database.pool.query("SELECT 1 FROM webhook_delivery WHERE state = 'waiting'")).rowCount === 0;

describe('the dashboard’s work on alerts', () => {
  it('tells every webhook of every alert once, with several dashboards at work', async () => {
    start();
    start();
    start();
    await Promise.all([useAll(10), useAll(20), useAll(30)]);
    await eventually(() => received.length >= 6);
    await eventually(isQuiet);
    expect(new Set(received).size).toBe(6);
    expect(received).toHaveLength(6);
  });

  it('goes on by itself when PostgreSQL was away', async () => {
    const db = createPool(database.url, { max: 2, statementTimeoutMs: 60_000 });
    const query = db.query.bind(db);
    let isAway = true;
    Object.assign(db, { query: (...args: Parameters<typeof query>) => (isAway ? Promise.reject(new Error('away')) : query(...args)) });
    start(db);
    await useAll(10);
    await new Promise((done) => setTimeout(done, 100));
    expect(received).toEqual([]);
    isAway = false;
    await eventually(() => received.length === 2);
    for (const work of running.splice(0)) await work.close();
    await db.end();
  });

  it('pauses for 30 s, 2 min, 10 min, 1 h and 6 h unless told otherwise', () => {
    expect(settingsOf({}).DASHBOARD_WEBHOOKS_RETRY_SECONDS).toEqual([30, 120, 600, 3_600, 21_600]);
  });

  it.each(['soon', '30,-1', '30;60', '9999999'])('refuses %j as pauses', (text) => {
    expect(() => settingsOf({ DASHBOARD_WEBHOOKS_RETRY_SECONDS: text })).toThrow('DASHBOARD_WEBHOOKS_RETRY_SECONDS');
  });
});
