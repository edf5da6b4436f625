import { type Pool } from 'pg';
import { Webhook } from 'standardwebhooks';
import { systemClock } from '../../../../plugins/core/ports';
import { listDeliveries, replayDelivery } from '../../../../services/selling/webhooks/delivery-view';
import { raiseAlerts } from '../../../../services/selling/webhooks/raise-alerts';
import { viewWebhooks } from '../../../../services/selling/webhooks/webhook-view';
import { WebhookSender } from '../../../../services/dashboard/customer/webhooks/webhook-sender';
import { createLog } from '../../../../services/kit/log';
import { newKey } from '../../../contracts/access-records';
import { startGatewayDouble } from '../../support/gateway-double';
import { eventually } from '../../../support/eventually';
import { testDatabase, type TestDatabase } from '../../../support/postgres/postgres';
import { createPool } from '../../../../plugins/stores/postgres/pool';
import { closeStatements } from '../../../../services/selling/statements/close-statements';
import { askForPlan } from '../../../../services/selling/subscriptions/ask-for-plan';
import { changeSubscription, setSubscriptionState } from '../../../../services/selling/subscriptions/change-subscription';
import { suspendCustomer } from '../../../../services/selling/suspensions/suspend';
import {
  addSellerWebhook,
  listSellerWebhooks,
  removeSellerWebhook,
  type SellerEvent,
} from '../../../../services/selling/webhooks/seller-webhooks';

describe('webhooks of the seller', () => {
  const actor = 'operator@example.com';
  const timeZone = 'Asia/Kolkata';
  let database: TestDatabase;
  /** With the rights that the dashboard has in production. */
  let dashboard: Pool;
  beforeEach(async () => {
    database = await testDatabase();
    dashboard = createPool(database.urlAs('tollgate_dashboard'), { max: 2 });
  });
  afterEach(async () => {
    await dashboard.end();
    await database.close();
  });

  const add = (events: readonly SellerEvent[] | null = null, url = 'http://127.0.0.1:9/') =>
    addSellerWebhook(database.pool, { url, events, actor });
  async function told(): Promise<{ event: string; data: any }[]> {
    const { rows } = await database.pool.query('SELECT event, data FROM webhook_delivery ORDER BY number');
    return rows;
  }
  const events = async () => (await told()).map(({ event }) => event);

  describe('the seller’s webhook', () => {
    it('is told of a customer, its plan, its request and its end, whoever changes them', async () => {
      await add();
      await database.pool.query("UPDATE plan SET approval = 'request' WHERE product_id = 'api-seo'");
      const { customerId, subscriptions } = await newKey(dashboard);
      const id = subscriptions[0]?.id ?? '';
      await changeSubscription(dashboard, { id, plan: 'Star', actor });
      await askForPlan(dashboard, { customer: customerId, product: 'api-seo', plan: 'Star', actor });
      await setSubscriptionState(dashboard, { id, state: 'cancelled', actor });
      await suspendCustomer(database.pool, { customer: customerId, reason: 'unpaid', actor });
      const all = await told();
      expect(all.map(({ event }) => event)).toEqual([
        'customer.created',
        'subscription.changed',
        'subscription.changed',
        'subscription.requested',
        'subscription.cancelled',
        'customer.suspended',
      ]);
      expect(all[1]?.data).toMatchObject({ subscription_id: id, product: 'api-ip', before: null, after: { plan: null, state: 'active' } });
      expect(all[2]?.data).toMatchObject({ before: { plan: null }, after: { plan: 'Star', price: '499.00', currency: 'INR' } });
      expect(all[3]?.data).toMatchObject({ customer_id: customerId, product: 'api-seo', plan: 'Star', price: '999.00' });
      expect(all[5]?.data).toMatchObject({ customer_id: customerId, reason: 'unpaid' });
    });

    it('is told only of what it asked for, and of nothing that did not happen', async () => {
      await add(['subscription.cancelled']);
      const { subscriptions } = await newKey(database.pool);
      const id = subscriptions[0]?.id ?? '';
      const client = await database.pool.connect();
      await client.query('BEGIN');
      await setSubscriptionState(client, { id, state: 'cancelled', actor });
      await client.query('ROLLBACK');
      client.release();
      expect(await events()).toEqual([]);
      await setSubscriptionState(database.pool, { id, state: 'cancelled', actor });
      expect(await events()).toEqual(['subscription.cancelled']);
      await expect(dashboard.query("SELECT tell_seller('statement.ready', '{}')")).rejects.toThrow('permission denied');
    });

    it('is told once when a limit is used up, and not of shares below', async () => {
      await add(['quota.reached']);
      const { subscriptions } = await newKey(database.pool, { daily: 10, monthly: 1_000 });
      const used = (units: number) =>
        database.pool.query(
          `INSERT INTO usage (subscription_id, day, spent_redis) VALUES ($1, (now() AT TIME ZONE $2)::date, $3)
       ON CONFLICT (subscription_id, day) DO UPDATE SET spent_redis = excluded.spent_redis`,
          [subscriptions[0]?.id, timeZone, units],
        );
      await used(8);
      await raiseAlerts(dashboard, { timeZone });
      expect(await events()).toEqual([]);
      await used(10);
      await raiseAlerts(dashboard, { timeZone });
      await raiseAlerts(dashboard, { timeZone });
      expect(await told()).toMatchObject([{ event: 'quota.reached', data: { window: 'daily', used: 10, limit: 10, product: 'api-ip' } }]);
    });

    it('is told of each statement when it is closed, with its lines, once', async () => {
      await add(['statement.ready']);
      const { customerId } = await newKey(database.pool, { plan: 'Star' });
      await database.pool.query("UPDATE subscription_term SET since = '2026-01-01T00:00:00+05:30'");
      const now = Date.parse('2026-02-03T12:00:00+05:30') / 1_000;
      const onFailure = (_customer: unknown, error: unknown) => {
        throw error;
      };
      expect(await closeStatements(dashboard, { timeZone, now, onFailure })).toBe(1);
      expect(await closeStatements(dashboard, { timeZone, now, onFailure })).toBe(0);
      expect(await told()).toMatchObject([
        {
          event: 'statement.ready',
          data: { customer_id: customerId, month: '2026-01', totals: [{ currency: 'INR', amount: '499.00' }], lines: [{ plan: 'Star' }] },
        },
      ]);
    });

    it('is none of a customer’s, and goes with what waits for it', async () => {
      const made = await add();
      const { customerId } = await newKey(database.pool);
      expect(await viewWebhooks(database.pool, customerId)).toEqual([]);
      expect(await listSellerWebhooks(database.pool)).toMatchObject([{ id: made.id, events: null }]);
      expect(JSON.stringify(await listSellerWebhooks(database.pool))).not.toContain(made.secret);
      await removeSellerWebhook(database.pool, { id: made.id, actor });
      expect(await events()).toEqual([]);
      const audit = await database.pool.query("SELECT action FROM audit_log WHERE subject_kind = 'webhook' ORDER BY id");
      expect(audit.rows.map(({ action }) => action)).toEqual(['webhook.create', 'webhook.delete']);
    });
  });

  it('delivers signed, reaches a system of its own network, and says the same when it is replayed', async () => {
    const receiver = await startGatewayDouble();
    const received = receiver.seen;
    const made = await add(['customer.created'], `${receiver.url}/hooks`);
    const log = createLog('test', { level: 'silent' });
    const pace = { retrySeconds: [], pollMs: 20 };
    const sender = new WebhookSender({ db: dashboard, clock: systemClock, log, timeZone, allowPrivate: false, ...pace });
    try {
      await newKey(database.pool);
      await eventually(() => received.length === 1);
      const { deliveries } = await listDeliveries(database.pool, { id: made.id, customerId: null, limit: 10 });
      await replayDelivery(database.pool, { id: made.id, customerId: null, deliveryId: deliveries[0]?.id ?? '' });
      await eventually(() => received.length === 2);
      for (const { headers, body } of received) {
        expect(new Webhook(made.secret).verify(String(body), headers as Record<string, string>)).toMatchObject({
          type: 'customer.created',
          data: { customer: expect.stringContaining('@example.com') },
        });
      }
      expect(received[1]?.body).toEqual(received[0]?.body);
      expect(received[1]?.headers['webhook-id']).toBe(received[0]?.headers['webhook-id']);
    } finally {
      await sender.close();
      await receiver.close();
    }
  });
});
