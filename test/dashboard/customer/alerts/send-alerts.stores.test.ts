import { createWebhook } from '../../../../services/selling/webhooks/change-webhooks';
import { newKey } from '../../../contracts/access-records';
import { systemClock } from '../../../../plugins/core/ports';
import { createLog } from '../../../../services/kit/log';
import { startGatewayDouble } from '../../support/gateway-double';
import { eventually } from '../../../support/eventually';
import { openedForTests } from '../../../support/opened';
import { createPool } from '../../../../plugins/stores/postgres/pool';
import { writeAlertMails } from '../../../../services/dashboard/customer/alerts/alert-mails';
import { useDatabase } from '../../../support/postgres/use-database';
import { alertSettings, type AlertWork, startAlerts } from '../../../../services/dashboard/customer/start-alerts';
import { type Mail } from '../../../../services/dashboard/http/dashboard-deps';
import { readSettings } from '../../../../plugins/core/settings';
import { startMailing } from '../../support/mailing';

describe('sending alerts by webhook and mail', () => {
  const timeZone = 'Asia/Kolkata';
  const opened = openedForTests();
  const database = useDatabase();
  const receiver = opened.use(startGatewayDouble);
  let sent: Mail[];
  const running: Pick<AlertWork, 'close'>[] = [];

  beforeEach(() => {
    receiver.seen.splice(0);
    sent = [];
  });
  afterEach(async () => {
    for (const work of running.splice(0)) await work.close();
  });

  const send = (mail: Mail): void => void sent.push(mail);
  const settingsOf = (env: Record<string, string>) => readSettings({ alerts: alertSettings }, env).alerts;
  function start(db = database.pool): void {
    const settings = settingsOf({ DASHBOARD_WEBHOOKS_ALLOW_PRIVATE: 'true', DASHBOARD_WEBHOOKS_RETRY_SECONDS: '0,0' });
    const log = createLog('test', { level: 'silent' });
    const pace = { evaluateMs: 20, pollMs: 20 };
    running.push(
      startAlerts({ db, clock: systemClock, log, timeZone, settings, ...pace }),
      startMailing(db, { send, write: { alerts: writeAlertMails }, everyMs: 20 }),
    );
  }

  /** The day's and the month's limit: two alerts. */
  async function useAll(daily: number): Promise<void> {
    const key = await newKey(database.pool, { daily, monthly: daily });
    await createWebhook(database.pool, { customerId: key.customerId, url: `${receiver.url}/`, actor: 'test' });
    await database.pool.query(
      "INSERT INTO usage (subscription_id, day, spent_redis) VALUES ($1, (now() AT TIME ZONE 'Asia/Kolkata')::date, $2)",
      [key.subscriptions[0]?.id, daily],
    );
  }
  describe('the dashboard’s work on alerts', () => {
    /** A customer with an account, of whose daily limit this much is used. */
    async function used(units: number): Promise<string> {
      const { customerId, subscriptions } = await newKey(database.pool, { daily: 10, monthly: 1_000_000 });
      const account = `INSERT INTO auth_user (name, email, email_verified, created_at, updated_at)
        SELECT '', lower(email), true, now(), now() FROM customer WHERE id = $1 RETURNING email`;
      const { rows } = await database.pool.query<{ email: string }>(account, [customerId]);
      const usage = 'INSERT INTO usage (subscription_id, day, spent_redis) VALUES ($1, (now() AT TIME ZONE $2)::date, $3)';
      await database.pool.query(usage, [subscriptions[0]?.id, timeZone, units]);
      return rows[0]?.email ?? '';
    }
    const mailsTo = (email: string): Mail[] => sent.filter(({ to }) => to === email);
    const useMore = (): Promise<unknown> => database.pool.query('UPDATE usage SET spent_redis = 10 WHERE spent_redis = 8');
    const hourLater = (): Promise<unknown> => database.pool.query("UPDATE outbox SET due_at = due_at - interval '61 minutes'");
    const waiting = async (): Promise<number> => (await database.pool.query('SELECT 1 FROM alert WHERE is_mail_due')).rowCount ?? 0;

    it('tells each customer once with several dashboards at work, and once an hour at most', async () => {
      start();
      start();
      start();
      const emails = [await used(8), await used(10)];
      await eventually(() => sent.length >= 2);
      await eventually(async () => (await waiting()) === 0);
      expect(sent.map(({ to }) => to).sort()).toEqual([...emails].sort());
      await useMore();
      await eventually(async () => (await waiting()) === 1);
      await eventually(async () => (await raisedSince()) >= 3);
      expect(mailsTo(emails[0] ?? '')).toHaveLength(1);
      await hourLater();
      await eventually(() => mailsTo(emails[0] ?? '').length === 2);
      await eventually(async () => (await waiting()) === 0);
      expect(mailsTo(emails[0] ?? '')[1]?.subject).toMatch(/reached its daily limit$/);
      expect(mailsTo(emails[1] ?? '')).toHaveLength(1);
    });
    const raisedSince = async (): Promise<number> =>
      (await database.pool.query('SELECT 1 FROM alert WHERE customer_id IN (SELECT subject FROM outbox)')).rowCount ?? 0;

    it('goes on by itself when PostgreSQL was away, and tells each webhook of each alert once with several dashboards', async () => {
      const db = createPool(database.url, { max: 6, statementTimeoutMs: 60_000 });
      const query = db.query.bind(db);
      let isAway = true;
      Object.assign(db, { query: (...args: Parameters<typeof query>) => (isAway ? Promise.reject(new Error('away')) : query(...args)) });
      for (let dashboards = 0; dashboards < 3; dashboards++) start(db);
      await Promise.all([useAll(10), useAll(20), useAll(30)]);
      await new Promise((done) => setTimeout(done, 100));
      expect(receiver.seen).toEqual([]);
      isAway = false;
      await eventually(() => receiver.seen.length >= 6);
      await eventually(async () => (await database.pool.query("SELECT FROM webhook_delivery WHERE state = 'waiting'")).rowCount === 0);
      for (const work of running.splice(0)) await work.close();
      await db.end();
      expect([receiver.seen.length, new Set(receiver.seen.map(({ headers }) => headers['webhook-id'])).size]).toEqual([6, 6]);
    });
  });
});
