import { changeSubscription } from '../../../../plugins/stores/postgres/subscriptions/change-subscription';
import { createKey } from '../../../../plugins/stores/postgres/keys/create-key';
import { createSubscription } from '../../../../plugins/stores/postgres/subscriptions/create-subscription';
import { listSubscriptions } from '../../../../plugins/stores/postgres/subscriptions/subscription-view';
import { setSubscriptionState } from '../../../../plugins/stores/postgres/subscriptions/set-subscription-state';
import { newKey } from '../../../contracts/access-records';
import { testDatabase, type TestDatabase } from '../../../support/postgres/postgres';

const actor = 'test';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

const refusal = (code: string): unknown => expect.objectContaining({ name: 'OperationRefused', code });

describe('subscriptions', () => {
  it('takes limits from the override, else the plan, else the product', async () => {
    const { customerId } = await newKey(database.pool);
    const made = await createSubscription(database.pool, { customer: customerId, product: 'api-aadhaar', actor });
    expect(made).toMatchObject({ plan: null, daily: 1_000, monthly: 30_000, state: 'active' });
    const change = (terms: Parameters<typeof changeSubscription>[1]): Promise<unknown> => changeSubscription(database.pool, terms);
    expect(await change({ id: made.id, plan: 'Star', actor })).toMatchObject({ plan: 'Star', daily: 4_000, monthly: 120_000 });
    expect(await change({ id: made.id, daily: 0, actor })).toMatchObject({ plan: 'Star', daily: 0, monthly: 120_000 });
    expect(await change({ id: made.id, plan: null, monthly: 9, actor })).toMatchObject({ plan: null, daily: 0, monthly: 9 });
    expect(await change({ id: made.id, daily: null, monthly: null, actor })).toMatchObject({ daily: 1_000, monthly: 30_000 });
  });

  it('lets the Star plan of the app product be smaller than its base, as published', async () => {
    const { subscriptions } = await newKey(database.pool, { products: ['api-app'], plan: 'Star' });
    expect(subscriptions[0]).toMatchObject({ daily: 200, monthly: 6_000 });
  });

  it('has one subscription for each customer and product', async () => {
    const { customerId } = await newKey(database.pool);
    const again = createSubscription(database.pool, { customer: customerId, product: 'api-ip', actor });
    await expect(again).rejects.toEqual(refusal('subscription_exists'));
    await expect(listSubscriptions(database.pool, { customer: customerId })).resolves.toHaveLength(1);
  });

  it('refuses a product without limits, unknown names and another customer’s subscription', async () => {
    const { customerId, subscriptions } = await newKey(database.pool);
    const { customerId: other } = await newKey(database.pool);
    const create = (product: string, plan?: string): Promise<unknown> =>
      createSubscription(database.pool, { customer: customerId, product, ...(plan === undefined ? {} : { plan }), actor });
    await expect(create('api-pan')).rejects.toEqual(refusal('product_without_limits'));
    await expect(create('api-none')).rejects.toEqual(refusal('product_unknown'));
    await expect(create('api-seo', 'Moon')).rejects.toEqual(refusal('plan_unknown'));
    const id = subscriptions[0]?.id ?? '';
    await expect(changeSubscription(database.pool, { id, customerId: other, daily: 1, actor })).rejects.toEqual(
      refusal('subscription_unknown'),
    );
    await expect(setSubscriptionState(database.pool, { id: 'x', state: 'paused', actor })).rejects.toEqual(refusal('subscription_unknown'));
  });

  it('pauses and resumes, and comes back from cancelled only on new terms', async () => {
    const { subscriptions, customerId } = await newKey(database.pool, { plan: 'Star', daily: 5 });
    const id = subscriptions[0]?.id ?? '';
    const to = (state: 'active' | 'paused' | 'cancelled'): Promise<unknown> => setSubscriptionState(database.pool, { id, state, actor });
    expect(await to('paused')).toMatchObject({ state: 'paused' });
    expect(await to('active')).toMatchObject({ state: 'active' });
    expect(await to('cancelled')).toMatchObject({ state: 'cancelled' });
    await expect(to('active')).rejects.toEqual(refusal('subscription_cancelled'));
    await expect(changeSubscription(database.pool, { id, daily: 1, actor })).rejects.toEqual(refusal('subscription_cancelled'));
    const { subscriptions: back } = await createKey(database.pool, { customer: customerId, products: ['api-ip'], actor });
    expect(back[0]).toMatchObject({ id, state: 'active', plan: null, daily: 1_000 });
  });

  it('keeps a retired plan for those who are on it and offers it to nobody else', async () => {
    const { subscriptions, customerId } = await newKey(database.pool, { products: ['api-gdplay'], plan: 'Star' });
    const id = subscriptions[0]?.id ?? '';
    await database.pool.query("UPDATE plan SET active = false WHERE product_id = 'api-gdplay'");
    expect(await changeSubscription(database.pool, { id, daily: 4, actor })).toMatchObject({ plan: 'Star', monthly: 30_000_000 });
    await changeSubscription(database.pool, { id, plan: null, actor });
    await expect(changeSubscription(database.pool, { id, plan: 'Star', actor })).rejects.toEqual(refusal('plan_unknown'));
    await expect(newKey(database.pool, { products: ['api-gdplay'], plan: 'Star' })).rejects.toEqual(refusal('plan_unknown'));
    expect(await listSubscriptions(database.pool, { customer: customerId })).toHaveLength(1);
  });

  it('leaves a line in the audit log for every change', async () => {
    const { subscriptions } = await newKey(database.pool);
    const id = subscriptions[0]?.id ?? '';
    await changeSubscription(database.pool, { id, plan: 'Star', actor });
    await setSubscriptionState(database.pool, { id, state: 'paused', actor });
    await setSubscriptionState(database.pool, { id, state: 'paused', actor });
    const { rows } = await database.pool.query('SELECT action FROM audit_log WHERE subject_id = $1 ORDER BY id', [id]);
    expect(rows.map(({ action }) => action)).toEqual(['subscription.create', 'subscription.change', 'subscription.pause']);
  });
});
