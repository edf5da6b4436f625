import { alertText } from '../../../../services/dashboard/customer/alerts/alert-text';
import { type Pool } from 'pg';
import { type AlertView, listAlerts, markAlertsRead } from '../../../../services/selling/webhooks/alert-view';
import { listMailedAlerts } from '../../../../services/selling/alerts/mailed-alerts';
import { pruneAlerts } from '../../../../services/selling/webhooks/claim-deliveries';
import { changeWebhook, createWebhook, webhookVersion } from '../../../../services/selling/webhooks/change-webhooks';
import { expireKey, revokeKey } from '../../../../services/selling/keys/set-key-state';
import { raiseAlerts } from '../../../../services/selling/webhooks/raise-alerts';
import { setMailedKinds, setThresholds } from '../../../../services/selling/alerts/alert-settings';
import { setDailyCap } from '../../../../services/selling/subscriptions/change-subscription';
import { newKey } from '../../../contracts/access-records';
import { testDatabase, type TestDatabase } from '../../../support/postgres/postgres';

describe('raising alerts', () => {
  const timeZone = 'Asia/Kolkata';
  const actor = 'test';
  let database: TestDatabase;
  let pool: Pool;
  beforeEach(async () => {
    database = await testDatabase();
    ({ pool } = database);
  });
  afterEach(() => database.close());

  type Key = Awaited<ReturnType<typeof newKey>>;
  const limited = (daily: number, monthly: number): Promise<Key> => newKey(pool, { daily, monthly });

  /** Units used on a day, counted from today in the quota time zone. */
  async function use(key: Key, units: number, daysAgo = 0): Promise<void> {
    await pool.query(
      `INSERT INTO usage AS u (subscription_id, day, spent_redis) VALUES ($1, (now() AT TIME ZONE $2)::date - $3::int, $4)
     ON CONFLICT (subscription_id, day) DO UPDATE SET spent_redis = u.spent_redis + excluded.spent_redis`,
      [key.subscriptions[0]?.id, timeZone, daysAgo, units],
    );
  }
  const raised = async ({ customerId }: Key): Promise<readonly AlertView[]> => {
    await raiseAlerts(pool, { timeZone });
    return (await listAlerts(pool, { customerId, limit: 100 })).alerts;
  };
  const shares = (alerts: readonly AlertView[]): string[] => alerts.map(({ kind, percent }) => `${kind} ${percent}`).sort();

  describe('alerts of a limit', () => {
    it('come at 50, 80 and 100 % of the day and of the month, each once', async () => {
      const key = await limited(10, 1_000);
      for (const [units, told] of [
        [4, []],
        [1, ['quota_daily 50']],
        [3, ['quota_daily 50', 'quota_daily 80']],
        [2, ['quota_daily 100', 'quota_daily 50', 'quota_daily 80']],
      ] as const) {
        await use(key, units);
        expect(shares(await raised(key))).toEqual(told);
      }
      const alerts = await raised(key);
      expect(alerts[0]).toMatchObject({ percent: 100, used: 10, limit: 10, product: 'api-ip', keyId: null, readAt: null });
      expect(alerts).toHaveLength(3);
      await pool.query('UPDATE subscription SET monthly_override = 12 WHERE id = $1', [key.subscriptions[0]?.id]);
      expect(shares(await raised(key))).toEqual(expect.arrayContaining(['quota_monthly 80']));
    });

    it('tell only the highest of the shares that were reached at one go, and none below it later', async () => {
      const key = await limited(10, 1_000);
      await use(key, 10);
      expect(shares(await raised(key))).toEqual(['quota_daily 100']);
      await pool.query('UPDATE usage SET refunded = 1 WHERE subscription_id = $1', [key.subscriptions[0]?.id]);
      expect(shares(await raised(key))).toEqual(['quota_daily 100']);
    });

    it('end as soon as their limit is raised, and tell of the larger one in the same day', async () => {
      const key = await limited(10, 1_000);
      const { customerId } = key;
      const raiseTo = (daily: number) =>
        pool.query('UPDATE subscription SET daily_override = $2 WHERE id = $1', [key.subscriptions[0]?.id, daily]);
      await use(key, 10);
      expect(await raised(key)).toMatchObject([{ percent: 100, limit: 10, isOver: false }]);
      await raiseTo(20);
      expect(await listAlerts(pool, { customerId, limit: 9 })).toMatchObject({ unread: 0, alerts: [{ limit: 10, isOver: true }] });
      expect(await listMailedAlerts(pool, customerId)).toEqual([]);
      expect(await raised(key)).toMatchObject([
        { percent: 50, limit: 20, isOver: false },
        { percent: 100, limit: 10, isOver: true },
      ]);
      await use(key, 10);
      expect((await raised(key))[0]).toMatchObject({ percent: 100, limit: 20, isOver: false });
      await raiseTo(15);
      expect(shares(await raised(key))).toEqual(['quota_daily 100', 'quota_daily 100', 'quota_daily 50']);
    });

    it('of a plan that sells use above what its price includes tell when that begins, and apart from it when requests are refused', async () => {
      const key = await limited(1_000, 30_000);
      const [{ id = '' } = {}] = key.subscriptions;
      await pool.query(
        `WITH sold AS (
         INSERT INTO plan (product_id, name, daily, monthly, price, currency, overage)
         SELECT product_id, 'Sea', 100, 3000, 49, 'INR', '{"per": 10, "price": "2.00", "daily": 10, "monthly": 300}' FROM subscription WHERE id = $1
         RETURNING name
       )
       UPDATE subscription SET plan_name = sold.name, daily_override = NULL, monthly_override = NULL FROM sold WHERE id = $1`,
        [id],
      );
      const told = async () =>
        (await raised(key)).map(({ kind, percent, isIncluded, limit }) => [kind, percent, isIncluded ? 'included' : 'refused', limit]);
      await use(key, 8);
      expect(await told()).toEqual([['quota_daily', 80, 'included', 10]]);
      await use(key, 2);
      const [begins] = await raised(key);
      expect(begins && alertText(begins, timeZone)).toMatch(
        /^IP.* used what its price includes a day: 10 of 10 requests on .*\. Use above that is charged\.$/,
      );
      await use(key, 70);
      expect((await told())[0]).toEqual(['quota_daily', 80, 'refused', 100]);
      await use(key, 20);
      const [refused] = await raised(key);
      expect(refused && alertText(refused, timeZone)).toMatch(/reached its daily limit: 100 of 100 .* refused until the day ends\.$/);
      expect(await told()).toHaveLength(4);
      await pool.query('UPDATE subscription SET daily_override = 1000 WHERE id = $1', [id]);
      expect(await told()).toHaveLength(4);
    });

    it('count the whole month, and no other subscription', async () => {
      const [key, other] = [await limited(1_000_000, 100), await limited(1_000_000, 100)];
      await use(other, 1);
      const { rows } = await pool.query('SELECT extract(day FROM now() AT TIME ZONE $1)::int AS day', [timeZone]);
      const daysAgo = rows[0].day > 1 ? 1 : 0;
      await use(key, 49, daysAgo);
      await use(key, 500, rows[0].day);
      await use(key, 1);
      expect(shares(await raised(key))).toEqual(['quota_monthly 50']);
      expect(await raised(other)).toEqual([]);
    });

    it('are not raised for units that were given back, or for a cancelled subscription', async () => {
      const [refunded, cancelled] = [await limited(10, 1_000), await limited(10, 1_000)];
      await use(refunded, 5);
      await pool.query('UPDATE usage SET refunded = 1 WHERE subscription_id = $1', [refunded.subscriptions[0]?.id]);
      await use(cancelled, 10);
      await pool.query("UPDATE subscription SET state = 'cancelled' WHERE id = $1", [cancelled.subscriptions[0]?.id]);
      expect(await raised(refunded)).toEqual([]);
      expect(await raised(cancelled)).toEqual([]);
    });

    it('are not recorded for a paused webhook', async () => {
      const key = await limited(10, 1_000);
      const { customerId } = key;
      const { webhook } = await createWebhook(pool, { customerId, url: 'https://hooks.example/', actor });
      await changeWebhook(pool, { id: webhook.id, customerId, version: webhookVersion(webhook), state: 'paused', actor });
      await use(key, 10);
      expect(await raised(key)).toHaveLength(1);
      expect((await pool.query('SELECT 1 FROM webhook_delivery')).rowCount).toBe(0);
    });
  });

  describe('thresholds of a customer’s own', () => {
    it('take the place of the usual ones, and end when they are taken away', async () => {
      const key = await limited(100, 100_000);
      const id = key.subscriptions[0]?.id ?? '';
      const { customerId } = key;
      expect(await setThresholds(pool, { id, customerId, percents: [95, 20, 20], actor })).toEqual([20, 95]);
      await use(key, 90);
      expect(shares(await raised(key))).toEqual(['quota_daily 20']);
      await use(key, 5);
      expect(shares(await raised(key))).toEqual(['quota_daily 20', 'quota_daily 95']);
      await setThresholds(pool, { id, customerId, percents: null, actor });
      await use(key, 5);
      expect(shares(await raised(key))).toEqual(['quota_daily 100', 'quota_daily 20', 'quota_daily 95']);
    });

    it('count from the daily cap where there is one', async () => {
      const key = await limited(100, 100_000);
      await setDailyCap(pool, { id: key.subscriptions[0]?.id ?? '', customerId: key.customerId, cap: 10, actor });
      await use(key, 10);
      expect(await raised(key)).toMatchObject([{ kind: 'quota_daily', percent: 100, used: 10, limit: 10 }]);
    });
  });

  describe('what is mailed of them', () => {
    const due = async () => {
      await raiseAlerts(pool, { timeZone });
      const { rows } = await pool.query('SELECT kind, percent FROM alert WHERE is_mail_due ORDER BY number');
      return rows.map(({ kind, percent }) => `${kind} ${percent}`);
    };
    const account = async ({ customerId }: Key, isVerified = true): Promise<void> => {
      await pool.query(
        `INSERT INTO auth_user (name, email, email_verified, created_at, updated_at)
       SELECT '', lower(email), $2, now(), now() FROM customer WHERE id = $1`,
        [customerId, isVerified],
      );
    };

    it('is 80 and 100 %, and not 50; every threshold that was chosen', async () => {
      const [key, choosing] = [await limited(10, 1_000), await limited(10, 1_000)];
      for (const each of [key, choosing]) await account(each);
      await use(key, 5);
      expect(await due()).toEqual([]);
      await use(key, 3);
      expect(await due()).toEqual(['quota_daily 80']);
      await use(key, 2);
      expect(await due()).toEqual(['quota_daily 80', 'quota_daily 100']);
      await setThresholds(pool, { id: choosing.subscriptions[0]?.id ?? '', customerId: choosing.customerId, percents: [30], actor });
      await use(choosing, 3);
      expect(await due()).toEqual(['quota_daily 80', 'quota_daily 100', 'quota_daily 30']);
    });

    it('is no kind that was switched off', async () => {
      const key = await newKey(pool, { daily: 10, monthly: 10, expiresAt: new Date(Date.now() + 20 * 86_400_000) });
      await account(key);
      await pool.query("UPDATE credential SET created_at = now() - interval '30 days', planned_expires_at = now() + interval '3 days'");
      const { customerId } = key;
      await setMailedKinds(pool, { customerId, mail: { quotaDaily: false, quotaMonthly: true, keyExpiry: false }, actor });
      await use(key, 10);
      expect(await due()).toEqual(['quota_monthly 100']);
      expect(await raised(key)).toHaveLength(3);
    });

    it('is nothing where nobody has confirmed the address', async () => {
      const [unknown, unverified] = [await limited(10, 1_000), await limited(10, 1_000)];
      await account(unverified, false);
      await use(unknown, 10);
      await use(unverified, 10);
      expect(await due()).toEqual([]);
    });
  });

  describe('alerts of a key', () => {
    const inDays = (days: number): Date => new Date(Date.now() + days * 86_400_000);

    it('come once when it expires within 7 days, and again when its expiry was moved', async () => {
      const key = await newKey(pool, { expiresAt: inDays(7.5), name: 'shop' });
      await pool.query("UPDATE credential SET created_at = now() - interval '30 days' WHERE id = $1", [key.id]);
      expect(await raised(key)).toEqual([]);
      const soon = inDays(6.9);
      await expireKey(pool, { id: key.id, at: soon, actor });
      expect(await raised(key)).toMatchObject([{ kind: 'key_expiry', keyId: key.id, keyName: 'shop', expiresAt: soon, percent: null }]);
      expect(await raised(key)).toHaveLength(1);
      await expireKey(pool, { id: key.id, at: inDays(3), actor });
      expect(await raised(key)).toHaveLength(2);
    });

    it('do not come for a key that was made to live for less than 7 days', async () => {
      const key = await newKey(pool, { expiresAt: inDays(6.9) });
      expect(await raised(key)).toEqual([]);
      await expireKey(pool, { id: key.id, at: inDays(90), actor });
      await pool.query(
        "UPDATE credential SET created_at = created_at - interval '84 days', planned_expires_at = planned_expires_at - interval '84 days' WHERE id = $1",
        [key.id],
      );
      expect(await raised(key)).toHaveLength(1);
    });

    it('do not come for a key that was revoked or has expired', async () => {
      const [revoked, expired] = [await newKey(pool, { expiresAt: inDays(3) }), await newKey(pool, {})];
      await revokeKey(pool, { id: revoked.id, actor });
      await expireKey(pool, { id: expired.id, actor });
      expect([...(await raised(revoked)), ...(await raised(expired))]).toEqual([]);
    });
  });

  describe('a customer’s alerts', () => {
    it('are paged newest first, counted while unread, and nobody else’s', async () => {
      const [key, other] = [await limited(10, 10), await newKey(pool)];
      for (const units of [5, 3, 2]) {
        await use(key, units);
        await raised(key);
      }
      const { customerId } = key;
      const first = await listAlerts(pool, { customerId, limit: 4 });
      const second = await listAlerts(pool, { customerId, limit: 4, after: first.next });
      expect([first.alerts.length, second.alerts.length, second.next]).toEqual([4, 2, undefined]);
      expect(new Set([...first.alerts, ...second.alerts].map(({ id }) => id)).size).toBe(6);
      expect(first.unread).toBe(6);
      await markAlertsRead(pool, { customerId: other.customerId });
      expect((await listAlerts(pool, { customerId, limit: 1 })).unread).toBe(6);
      await markAlertsRead(pool, { customerId });
      expect(await listAlerts(pool, { customerId, limit: 1 })).toMatchObject({ unread: 0, alerts: [{ readAt: expect.any(Date) }] });
      expect(await listAlerts(pool, { customerId: other.customerId, limit: 9 })).toEqual({ alerts: [], next: undefined, unread: 0 });
    });

    it('are deleted after 92 days, deliveries after 30', async () => {
      const key = await limited(10, 1_000);
      await createWebhook(pool, { customerId: key.customerId, url: 'https://hooks.example/', actor });
      await use(key, 5);
      await raised(key);
      await use(key, 3);
      await raised(key);
      await pool.query("UPDATE alert SET at = now() - interval '93 days' WHERE percent = 50");
      await pool.query("UPDATE webhook_delivery SET created_at = now() - interval '31 days'");
      await pruneAlerts(pool);
      expect((await pool.query('SELECT percent FROM alert')).rows).toEqual([{ percent: 80 }]);
      expect((await pool.query('SELECT 1 FROM webhook_delivery')).rowCount).toBe(0);
    });
  });
});
