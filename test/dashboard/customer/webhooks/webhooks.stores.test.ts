import { type ServerResponse } from 'node:http';
import { connect } from 'node:net';
import { type Pool } from 'pg';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import { systemClock } from '../../../../plugins/core/ports';
import {
  changeWebhook,
  type CreatedWebhook,
  createWebhook,
  deleteWebhook,
  renewWebhookSecret,
  webhookVersion,
} from '../../../../services/selling/webhooks/change-webhooks';
import { claimDelivery, settleDelivery } from '../../../../services/selling/webhooks/claim-deliveries';
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

describe('webhooks of a customer', () => {
  const actor = 'test';
  const opened = openedForTests();
  let pool: Pool;
  let receiver: GatewayDouble;
  let received: SeenRequest[];
  let customerId: string;
  const senders: WebhookSender[] = [];

  beforeAll(async () => {
    ({ pool } = await opened.keep(testDatabase()));
    receiver = await opened.keep(startGatewayDouble());
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
      new Webhook(secret).verify(String(body), headers as Record<string, string>);
      return true;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return false;
      throw error;
    }
  }

  describe('a webhook', () => {
    it('gets each alert signed, with its id, its type and the time of the attempt, and by its new secret once that was made', async () => {
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
      const ref = { id: webhook.id, customerId: key.customerId };
      await eventually(async () => (await viewWebhook(pool, ref)).lastOutcome === 'delivered');
      const renewed = await renewWebhookSecret(pool, { ...ref, actor });
      await requestTestDelivery(pool, ref);
      await eventually(() => received.length === 2);
      expect([renewed.secret, secret].map((each) => isSigned(received[1] as SeenRequest, each))).toEqual([true, false]);
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
  });

  describe('several senders', () => {
    it('send each of many deliveries exactly once', async () => {
      const hooks = await Promise.all([made('/a'), made('/b'), made('/c')]);
      for (const { webhook } of hooks)
        for (let count = 0; count < 7; count++) await requestTestDelivery(pool, { id: webhook.id, customerId });
      send();
      send();
      send();
      await eventually(async () => (await pool.query("SELECT 1 FROM webhook_delivery WHERE state = 'waiting'")).rowCount === 0);
      expect(received).toHaveLength(21);
      expect(new Set(received.map(({ headers }) => headers['webhook-id'])).size).toBe(21);
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
      for (let count = 0; count < 5; count++) {
        await requestTestDelivery(pool, { id: quick.webhook.id, customerId });
        await eventually(async () => (await log(quick.webhook.id))[0]?.state === 'delivered');
      }
      expect(most).toBeLessThanOrEqual(2);
      for (const response of open) response.end();
      receiver.answer = (_request, response) => response.end();
    });
  });

  const PRIVATE = ['http://127.0.0.1/', 'http://[::1]/', 'http://169.254.169.254/', 'http://10.0.0.8/', 'http://hooks.example/'];
  it.each(PRIVATE)('reaches no private address: %s', async (url) => {
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
  });

  it('are ten at most, counting those of two who ask at once', async () => {
    const results = await Promise.allSettled(Array.from({ length: 12 }, () => made()));
    expect(results.filter(({ status }) => status === 'fulfilled')).toHaveLength(10);
    for (const result of results) if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'webhook_limit_reached' });
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
