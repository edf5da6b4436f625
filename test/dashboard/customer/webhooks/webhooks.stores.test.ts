import { type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { type Pool } from 'pg';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { systemClock } from '../../../../plugins/core/ports';
import { changeWebhook, deleteWebhook, renewWebhookSecret, webhookVersion } from '../../../../services/selling/webhooks/change-webhook';
import { claimDelivery, settleDelivery } from '../../../../services/selling/webhooks/claim-deliveries';
import { createWebhook, type CreatedWebhook } from '../../../../services/selling/webhooks/create-webhook';
import {
  type DeliveryView,
  listDeliveries,
  replayDelivery,
  requestTestDelivery,
} from '../../../../services/selling/webhooks/delivery-view';
import { raiseAlerts } from '../../../../services/selling/webhooks/raise-alerts';
import { viewWebhook } from '../../../../services/selling/webhooks/webhook-view';
import { WebhookSender, type WebhookSenderOptions } from '../../../../services/dashboard/customer/webhooks/webhook-sender';
import { GuardedFetch } from '../../../../services/kit/upstream/guarded-fetch';
import { createLog } from '../../../../services/kit/log';
import { newKey } from '../../../contracts/access-records';
import { type GatewayDouble, type SeenRequest, startGatewayDouble } from '../../support/gateway-double';
import { eventually } from '../../../support/eventually';
import { openedForTests } from '../../../support/opened';
import { testDatabase } from '../../../support/postgres/postgres';
import { createPool } from '../../../../plugins/stores/postgres/pool';
import { writeAlertMails } from '../../../../services/dashboard/customer/alerts/alert-mails';
import { useDatabase } from '../../../support/postgres/use-database';
import { alertSettings, type AlertWork, startAlerts } from '../../../../services/dashboard/customer/start-alerts';
import { type Mail } from '../../../../services/dashboard/http/dashboard-deps';
import { readSettings } from '../../../../plugins/core/settings';
import { startMailing } from '../../support/mailing';

describe('webhooks of a customer', () => {
  const actor = 'test';
  const opened = openedForTests();
  let pool: Pool;
  let receiver: GatewayDouble;
  let received: SeenRequest[];
  let customerId: string;
  const senders: WebhookSender[] = [];

  beforeAll(async () => {
    ({ pool } = await opened.keep(testDatabase(), (each) => each.close()));
    receiver = await opened.keep(startGatewayDouble(), (each) => each.close());
    received = receiver.seen;
  });
  beforeEach(async () => {
    received.splice(0);
    receiver.answer = (_request, response) => response.writeHead(204).end();
    ({ customerId } = await newKey(pool));
  });
  afterEach(async () => {
    for (const sender of senders.splice(0)) await sender.close();
    await pool.query('DELETE FROM webhook');
  });

  const made = (path = '/hook'): Promise<CreatedWebhook> => createWebhook(pool, { customerId, url: `${receiver.url}${path}`, actor });
  function send(options: Partial<WebhookSenderOptions> = {}): void {
    const log = createLog('test', { level: 'silent' });
    const usual = { db: pool, clock: systemClock, log, timeZone: 'Asia/Kolkata', retrySeconds: [0, 0], allowPrivate: true, pollMs: 20 };
    senders.push(new WebhookSender({ ...usual, ...options }));
  }
  const log = async (id: string): Promise<readonly DeliveryView[]> =>
    (await listDeliveries(pool, { id, customerId, limit: 100 })).deliveries;
  /** As a receiver with the specification's own library sees it. */
  function isSigned({ headers, body }: SeenRequest, secret: string): boolean {
    try {
      new Webhook(secret).verify(String(body), {
        'webhook-id': String(headers['webhook-id']),
        'webhook-timestamp': String(headers['webhook-timestamp']),
        'webhook-signature': String(headers['webhook-signature']),
      });
      return true;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return false;
      throw error;
    }
  }

  describe('a webhook', () => {
    it('gets each alert signed, with its id, its type and the time of the attempt', async () => {
      const { secret, webhook } = await made();
      const key = await newKey(pool, { daily: 2, monthly: 1_000 });
      await pool.query('UPDATE webhook SET customer_id = $1', [key.customerId]);
      await pool.query("INSERT INTO usage (subscription_id, day, spent_redis) VALUES ($1, (now() AT TIME ZONE 'Asia/Kolkata')::date, 1)", [
        key.subscriptions[0]?.id,
      ]);
      await raiseAlerts(pool, { timeZone: 'Asia/Kolkata' });
      send();
      await eventually(() => received.length === 1);
      const [only] = received as [SeenRequest];
      const body = JSON.parse(String(only.body));
      expect(isSigned(only, secret)).toBe(true);
      expect(Math.abs(Number(only.headers['webhook-timestamp']) - Date.now() / 1000)).toBeLessThan(60);
      expect(only.headers['webhook-id']).toBe(body.id);
      expect(body).toMatchObject({ type: 'quota.daily', data: { product: 'api-ip', percent: 50, used: 1, limit: 2 } });
      expect(String(only.body)).not.toContain(secret);
      await eventually(async () => (await viewWebhook(pool, { id: webhook.id, customerId: key.customerId })).lastOutcome === 'delivered');
    });

    it('is tried again after each pause, then given up, with the same event each time', async () => {
      const { webhook } = await made();
      receiver.answer = (_request, response) =>
        response.writeHead(received.length === 1 ? 302 : 500, { Location: '/elsewhere' }).end('why it failed');
      await requestTestDelivery(pool, { id: webhook.id, customerId });
      send();
      await eventually(async () => (await log(webhook.id))[0]?.state === 'failed');
      expect(received.map(({ url }) => url)).toEqual(['/hook', '/hook', '/hook']);
      expect(new Set(received.map(({ body }) => String(body))).size).toBe(1);
      const [entry] = await log(webhook.id);
      expect(entry).toMatchObject({ attempts: 3, lastStatus: 500, lastError: null, nextAttemptAt: null, endedAt: expect.any(Date) });
      expect(JSON.stringify(entry)).not.toContain('why it failed');
    });

    it('is not replayed to another customer, whose own webhook asks for it', async () => {
      const { webhook } = await made();
      const { id: deliveryId } = await requestTestDelivery(pool, { id: webhook.id, customerId });
      const { customerId: stranger } = await newKey(pool);
      const own = await createWebhook(pool, { customerId: stranger, url: `${receiver.url}/other`, actor });
      const asked = replayDelivery(pool, { id: own.webhook.id, customerId: stranger, deliveryId });
      await expect(asked).rejects.toMatchObject({ code: 'delivery_unknown' });
    });

    it('is replayed under the same event id, and delivered when its receiver is well again', async () => {
      const { webhook } = await made();
      receiver.answer = (_request, response) => response.destroy();
      const first = await requestTestDelivery(pool, { id: webhook.id, customerId });
      send({ retrySeconds: [] });
      await eventually(async () => (await log(webhook.id))[0]?.state === 'failed');
      expect((await log(webhook.id))[0]).toMatchObject({ lastStatus: null, lastError: 'no connection, or it broke' });
      receiver.answer = (_request, response) => response.end();
      const again = await replayDelivery(pool, { id: webhook.id, customerId, deliveryId: first.id });
      await eventually(async () => (await log(webhook.id))[0]?.state === 'delivered');
      expect(again.id).not.toBe(first.id);
      expect(received[0]?.headers['webhook-id']).toBe(received[1]?.headers['webhook-id']);
    });

    it('waits 30 s after a first failure and is not asked before', async () => {
      const { webhook } = await made();
      receiver.answer = (_request, response) => response.writeHead(503).end();
      await requestTestDelivery(pool, { id: webhook.id, customerId });
      send({ retrySeconds: [30, 120] });
      await eventually(async () => (await log(webhook.id))[0]?.lastStatus === 503);
      const waitMs = ((await log(webhook.id))[0]?.nextAttemptAt?.getTime() ?? 0) - Date.now();
      expect(waitMs).toBeGreaterThan(20_000);
      expect(waitMs).toBeLessThanOrEqual(31_000);
      expect(received).toHaveLength(1);
    });

    it('gets nothing while it is paused, and what waits when it goes on', async () => {
      const { webhook } = await made();
      const ref = { id: webhook.id, customerId };
      await requestTestDelivery(pool, ref);
      const paused = await changeWebhook(pool, { ...ref, version: webhookVersion(webhook), state: 'paused', actor });
      expect(await claimDelivery(pool, { leaseMs: 60_000 })).toBeUndefined();
      await changeWebhook(pool, { ...ref, version: webhookVersion(paused), state: 'active', actor });
      send();
      await eventually(() => received.length === 1);
    });

    it('is signed with its new secret once that was made', async () => {
      const { secret, webhook } = await made();
      const renewed = await renewWebhookSecret(pool, { id: webhook.id, customerId, actor });
      await requestTestDelivery(pool, { id: webhook.id, customerId });
      send();
      await eventually(() => received.length === 1);
      const [only] = received as [SeenRequest];
      expect([isSigned(only, renewed.secret), isSigned(only, secret)]).toEqual([true, false]);
    });

    it('has a secret that libraries read: whsec_ and 32 bytes in standard base64', async () => {
      for (let count = 0; count < 8; count++) {
        const { secret, webhook } = await made();
        expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
        await deleteWebhook(pool, { id: webhook.id, customerId, actor });
      }
    });

    it('is signed with a secret of an earlier version as with the same bytes in standard base64', async () => {
      const { webhook } = await made();
      await pool.query('UPDATE webhook SET secret = $2 WHERE id = $1', [webhook.id, 'whsec_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_-_8']);
      await requestTestDelivery(pool, { id: webhook.id, customerId });
      send();
      await eventually(() => received.length === 1);
      const [only] = received as [SeenRequest];
      expect(isSigned(only, 'whsec_+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/+/8=')).toBe(true);
    });
  });

  describe('several senders', () => {
    it('send each of many deliveries exactly once', async () => {
      const hooks = await Promise.all([made('/a'), made('/b'), made('/c')]);
      for (const { webhook } of hooks)
        for (let count = 0; count < 20; count++) await requestTestDelivery(pool, { id: webhook.id, customerId });
      send();
      send();
      send();
      await eventually(async () => (await pool.query("SELECT 1 FROM webhook_delivery WHERE state = 'waiting'")).rowCount === 0);
      expect(received).toHaveLength(60);
      expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(60);
    });

    it('send again what a sender that died had claimed, once its lease has ended, and let it change nothing then', async () => {
      const { webhook } = await made();
      await requestTestDelivery(pool, { id: webhook.id, customerId });
      const lost = await claimDelivery(pool, { leaseMs: 3_600_000 });
      if (!lost) throw new Error('a test event is due at once');
      send();
      expect(received).toEqual([]);
      // As if the hour had passed.
      await pool.query("UPDATE outbox SET due_at = due_at - interval '1 hour' WHERE id = $1", [lost.item.id]);
      await eventually(() => received.length === 1);
      await eventually(async () => (await log(webhook.id))[0]?.state === 'delivered');
      await settleDelivery(pool, lost, { isDelivered: false, status: 500, error: null });
      expect((await log(webhook.id))[0]).toMatchObject({ state: 'delivered', attempts: 2 });
    });

    it('leave room for others while one receiver does not answer', async () => {
      const [slow, quick] = [await made('/slow'), await made('/quick')];
      const open = new Set<ServerResponse>();
      let most = 0;
      receiver.answer = ({ url }, response) => {
        if (url !== '/slow') return void response.end();
        most = Math.max(most, open.add(response).size);
        // Given up on: another attempt may follow.
        response.on('close', () => open.delete(response));
      };
      for (let count = 0; count < 30; count++) await requestTestDelivery(pool, { id: slow.webhook.id, customerId });
      send();
      await eventually(() => open.size > 0);
      for (let count = 0; count < 30; count++) {
        await requestTestDelivery(pool, { id: quick.webhook.id, customerId });
        await eventually(async () => (await log(quick.webhook.id))[0]?.state === 'delivered');
      }
      expect(most).toBeLessThanOrEqual(2);
      for (const response of open) response.end();
      receiver.answer = (_request, response) => response.end();
    });
  });

  describe('what a webhook may reach', () => {
    it.each(['http://127.0.0.1/', 'http://[::1]/', 'http://169.254.169.254/', 'http://10.0.0.8/', 'http://hooks.example/'])(
      'never is a private address: %s',
      async (url) => {
        const dialled: string[] = [];
        const fetch = new GuardedFetch({
          resolve: () => Promise.resolve(['93.184.216.34', '192.168.1.1']),
          dial: (target, callback) => {
            dialled.push(target.hostname);
            callback(null, connect(Number(new URL(receiver.url).port), '127.0.0.1'));
          },
        });
        const { webhook } = await createWebhook(pool, { customerId, url, actor });
        await requestTestDelivery(pool, { id: webhook.id, customerId });
        send({ retrySeconds: [], allowPrivate: false, fetch });
        await eventually(async () => (await log(webhook.id))[0]?.state === 'failed');
        expect((await log(webhook.id))[0]).toMatchObject({ lastStatus: null, lastError: 'the host has no public address' });
        expect([dialled, received]).toEqual([[], []]);
      },
    );
  });

  describe('the operations', () => {
    it('refuse an eleventh webhook, and count those of two who ask at once', async () => {
      const results = await Promise.allSettled(Array.from({ length: 12 }, () => made()));
      expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
      for (const result of results)
        if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'webhook_limit_reached' });
    });

    it('refuse a change based on an older version, and leave the audit log without a secret or a path', async () => {
      const { secret, webhook } = await made('/path-secret');
      const ref = { id: webhook.id, customerId };
      await changeWebhook(pool, { ...ref, version: webhookVersion(webhook), url: 'https://hooks.example/other-secret', actor });
      await expect(changeWebhook(pool, { ...ref, version: webhookVersion(webhook), state: 'paused', actor })).rejects.toMatchObject({
        name: 'VersionConflict',
        current: { url: 'https://hooks.example/other-secret', state: 'active' },
      });
      await deleteWebhook(pool, { ...ref, actor });
      const { rows } = await pool.query(
        "SELECT action, details::text FROM audit_log WHERE subject_id = $1 AND action LIKE 'webhook.%' ORDER BY id",
        [customerId],
      );
      expect(rows.map(({ action }) => action)).toEqual(['webhook.create', 'webhook.change', 'webhook.delete']);
      expect(JSON.stringify(rows)).not.toContain('secret');
      expect(JSON.stringify(rows)).not.toContain(secret);
    });
  });
});

describe('sending alerts by webhook and mail', () => {
  const timeZone = 'Asia/Kolkata';
  const opened = openedForTests();
  const database = useDatabase();
  let receiver: GatewayDouble;
  let sent: Mail[];
  const running: Pick<AlertWork, 'close'>[] = [];

  beforeAll(async () => {
    receiver = await opened.keep(startGatewayDouble(), (each) => each.close());
  });
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
  const isQuiet = async (): Promise<boolean> =>
    (await database.pool.query("SELECT 1 FROM webhook_delivery WHERE state = 'waiting'")).rowCount === 0;

  describe('the dashboard’s work on alerts', () => {
    it('tells every webhook of every alert once, with several dashboards at work', async () => {
      start();
      start();
      start();
      await Promise.all([useAll(10), useAll(20), useAll(30)]);
      await eventually(() => receiver.seen.length >= 6);
      await eventually(isQuiet);
      expect(new Set(receiver.seen.map(({ headers }) => headers['webhook-id'])).size).toBe(6);
      expect(receiver.seen).toHaveLength(6);
    });

    describe('by mail', () => {
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
    });

    it('goes on by itself when PostgreSQL was away', async () => {
      const db = createPool(database.url, { max: 2, statementTimeoutMs: 60_000 });
      const query = db.query.bind(db);
      let isAway = true;
      Object.assign(db, { query: (...args: Parameters<typeof query>) => (isAway ? Promise.reject(new Error('away')) : query(...args)) });
      start(db);
      await useAll(10);
      await new Promise((done) => setTimeout(done, 100));
      expect(receiver.seen).toEqual([]);
      isAway = false;
      await eventually(() => receiver.seen.length === 2);
      for (const work of running.splice(0)) await work.close();
      await db.end();
    });
  });
});
