import { viewKeys } from '../../plugins/stores/postgres/keys/key-view';
import { createKey } from '../../plugins/stores/postgres/keys/create-key';
import { suspendCustomer, suspendKey, suspendSubscription } from '../../plugins/stores/postgres/suspensions/suspend';
import { startDashboard, type TestDashboard } from './support/dashboard';

const EMAIL = 'asha@example.com';
const reason = 'unpaid since August';
const actor = 'cli';

let dashboard: TestDashboard;
let cookie: string;
beforeEach(async () => {
  dashboard = await startDashboard();
  cookie = await dashboard.signIn(EMAIL);
});
afterEach(() => dashboard.close());

const read = async (path: string) => (await dashboard.ask({ path, cookie })).json();

describe('what the provider suspended', () => {
  it('is told to its customer with the reason: the account, a key, a subscription', async () => {
    const { customerId } = await read('/api/session');
    const { pool } = dashboard;
    const { id, subscriptions } = await createKey(pool, { customer: EMAIL, products: ['api-ip'], actor });
    const suspended = { reason, since: expect.stringMatching(/Z$/) };
    expect([await read('/api/session'), await read(`/api/keys/${id}`)].map((each) => each.suspended)).toEqual([undefined, undefined]);
    await suspendCustomer(pool, { customer: customerId, reason, actor });
    await suspendKey(pool, { id, reason, actor });
    await suspendSubscription(pool, { id: subscriptions[0]?.id ?? '', reason, actor });
    expect(await read('/api/session')).toMatchObject({ suspended });
    expect(await read(`/api/keys/${id}`)).toMatchObject({ state: 'active', suspended });
    expect((await read('/api/keys')).keys[0]).toMatchObject({ suspended });
    const { products } = await read('/api/products');
    expect(products.find((each: { id: string }) => each.id === 'api-ip').subscription).toMatchObject({ state: 'active', suspended });
    const { entries } = await read('/api/audit');
    expect(entries.slice(0, 3).map((each: { actor: string; action: string }) => [each.actor, each.action])).toEqual([
      ['operator', 'subscription.suspend'],
      ['operator', 'key.suspend'],
      ['operator', 'customer.suspend'],
    ]);
  });

  it('is not lifted by resuming, activating or rotating', async () => {
    const { pool } = dashboard;
    const { customerId } = await read('/api/session');
    const { id, subscriptions } = await createKey(pool, { customer: EMAIL, products: ['api-ip'], actor });
    const subscription = subscriptions[0]?.id ?? '';
    await suspendKey(pool, { id, reason, actor });
    await suspendSubscription(pool, { id: subscription, reason, actor });
    const act = async (path: string, about: string, body: object = {}) => {
      const { version } = await read(about);
      return dashboard.ask({ method: 'POST', path, cookie, body: { version, ...body } });
    };
    const key = `/api/keys/${id}`;
    expect((await act(`${key}/deactivate`, key)).statusCode).toBe(200);
    expect((await act(`${key}/activate`, key)).json()).toMatchObject({ state: 'active', suspended: { reason } });
    const rotated = await act(`${key}/rotate`, key, { submission: '6f1b7d9e-6b1c-4f5e-9d5a-0d6f3b0c2a11', overlapHours: 0 });
    expect([rotated.statusCode, rotated.json().code]).toEqual([409, 'key_not_usable']);
    const keys = await viewKeys(pool, customerId);
    expect(keys.map((each) => each.suspended?.reason)).toEqual([reason]);
    for (const word of ['pause', 'resume']) {
      const { products } = await read('/api/products');
      const { version } = products.find((each: { id: string }) => each.id === 'api-ip').subscription;
      const path = `/api/subscriptions/${subscription}/${word}`;
      const { statusCode } = await dashboard.ask({ method: 'POST', path, cookie, body: { version } });
      expect(statusCode).toBe(200);
    }
    const after = (await read('/api/products')).products.find((each: { id: string }) => each.id === 'api-ip').subscription;
    expect(after).toMatchObject({ state: 'active', suspended: { reason } });
  });
});
