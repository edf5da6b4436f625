import { listCustomers, showCustomer } from '../../../services/selling/suspensions/show-customers';
import { rotateKey } from '../../../services/selling/keys/rotate-key';
import { setKeyState } from '../../../services/selling/keys/set-key-state';
import { showKey } from '../../../services/selling/keys/show-keys';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { createSubscription } from '../../../services/selling/subscriptions/create-subscription';
import { setSubscriptionState } from '../../../services/selling/subscriptions/set-subscription-state';
import { suspendCustomer, suspendKey, suspendSubscription } from '../../../services/selling/suspensions/suspend';
import { newKey } from '../../contracts/access-records';
import { useDatabase } from '../../support/postgres/use-database';

const operator = 'cli';
const customer = { name: 'dashboard:asha@example.com', from: '203.0.113.1' };
const reason = 'unpaid since August';

const database = useDatabase();

const suspended = { reason, since: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) };
const auditOf = async (id: string): Promise<unknown[]> => {
  const text = "SELECT actor, action, details FROM audit_log WHERE subject_id = $1 AND action ~ 'suspend|restore' ORDER BY id";
  return (await database.pool.query(text, [id])).rows;
};

describe('a suspension by the seller', () => {
  it('of a subscription is lifted by no act of its customer, nor by subscribing again', async () => {
    const { pool } = database;
    const { subscriptions, customerId } = await newKey(pool);
    const id = subscriptions[0]?.id ?? '';
    expect(await suspendSubscription(pool, { id, reason, actor: operator })).toMatchObject({ state: 'active', suspended });
    for (const state of ['paused', 'active', 'cancelled'] as const) {
      await setSubscriptionState(pool, { id, customerId, state, actor: customer });
      expect((await showCustomer(pool, { customer: customerId })).subscriptions[0]).toMatchObject({ id, state, suspended });
    }
    expect(await createSubscription(pool, { customer: customerId, product: 'api-ip', actor: customer })).toMatchObject({ id, suspended });
    await setSubscriptionState(pool, { id, state: 'paused', actor: customer });
    expect(await suspendSubscription(pool, { id, reason: undefined, actor: operator })).toMatchObject({ state: 'paused', suspended: null });
  });

  it('of a key is lifted by no act of its customer, and the key cannot be rotated out of it', async () => {
    const { pool } = database;
    const { id, customerId } = await newKey(pool);
    expect(await suspendKey(pool, { id, reason, actor: operator })).toMatchObject({ state: 'active', suspended });
    for (const state of ['inactive', 'active'] as const) await setKeyState(pool, { id, customerId, state, actor: customer });
    for (const overlapMs of [0, 60_000]) {
      await expect(rotateKey(pool, { id, customerId, overlapMs, actor: customer })).rejects.toMatchObject({ code: 'key_not_usable' });
    }
    expect(await showKey(pool, { id })).toMatchObject({ suspended });
    await suspendKey(pool, { id, reason: undefined, actor: operator });
    expect(await rotateKey(pool, { id, customerId, actor: customer })).toMatchObject({ rotatedFrom: id });
  });

  it('is audited once for each thing that it changes', async () => {
    const { pool } = database;
    const { customerId } = await newKey(pool);
    const suspend = (text: string | undefined): Promise<unknown> =>
      suspendCustomer(pool, { customer: customerId, reason: text, actor: operator });
    for (const text of [undefined, '', '', reason, reason, undefined, undefined]) await suspend(text);
    expect(await auditOf(customerId)).toEqual([
      { actor: 'cli', action: 'customer.suspend', details: { reason: '' } },
      { actor: 'cli', action: 'customer.suspend', details: { reason, before: '' } },
      { actor: 'cli', action: 'customer.restore', details: { before: reason } },
    ]);
  });

  it('keeps its moment when the reason is written anew', async () => {
    const { pool } = database;
    const { id } = await newKey(pool);
    const first = await suspendKey(pool, { id, reason: 'one', actor: operator });
    const second = await suspendKey(pool, { id, reason: 'two', actor: operator });
    expect(second.suspended).toEqual({ reason: 'two', since: first.suspended?.since });
  });

  it('is refused with a reason that is too long, and of what does not exist', async () => {
    const { pool } = database;
    const { id } = await newKey(pool);
    const tooLong = { id, reason: 'x'.repeat(501), actor: operator };
    await expect(suspendKey(pool, tooLong)).rejects.toMatchObject({ code: 'reason_malformed' });
    const nobody = '00000000-0000-4000-8000-000000000000';
    await expect(suspendKey(pool, { id: nobody, reason, actor: operator })).rejects.toMatchObject({ code: 'key_unknown' });
    await expect(suspendSubscription(pool, { id: nobody, reason, actor: operator })).rejects.toMatchObject({
      code: 'subscription_unknown',
    });
    await expect(suspendCustomer(pool, { customer: 'x@y.zz', reason, actor: operator })).rejects.toMatchObject({
      code: 'customer_unknown',
    });
  });

  it.each(['tollgate_plugin', 'tollgate_service'] as const)(
    'cannot be written by %s: only the dashboard, where operators sign in, writes it',
    async (role) => {
      const { id } = await newKey(database.pool);
      await suspendKey(database.pool, { id, reason, actor: operator });
      const pool = createPool(database.urlAs(role), { max: 1 });
      await expect(suspendKey(pool, { id, reason: undefined, actor: customer })).rejects.toMatchObject({ code: '42501' });
      await expect(pool.query('DELETE FROM suspension')).rejects.toMatchObject({ code: '42501' });
      expect(await showKey(database.pool, { id })).toMatchObject({ suspended });
      await pool.end();
    },
  );
});

describe('customers', () => {
  it('are listed by address, found by a part of it, and told apart by their suspension', async () => {
    const made = await Promise.all([1, 2, 3].map(() => newKey(database.pool)));
    const details = await Promise.all(made.map(({ customerId }) => showCustomer(database.pool, { customer: customerId })));
    expect(details[0]).toMatchObject({ keys: 1, suspended: null, subscriptions: [expect.objectContaining({ product: 'api-ip' })] });
    const emails = details.map(({ email }) => email).sort();
    await suspendCustomer(database.pool, { customer: emails[1] ?? '', reason, actor: operator });
    const all = await listCustomers(database.pool, { limit: 1_000 });
    expect(all.map(({ email }) => email)).toEqual(all.map(({ email }) => email).sort());
    expect(await listCustomers(database.pool, { limit: 10, search: (emails[1] ?? '').toUpperCase() })).toMatchObject([{ suspended }]);
    expect((await listCustomers(database.pool, { limit: 10, onlySuspended: true })).map(({ email }) => email)).toContain(emails[1]);
    const next = await listCustomers(database.pool, { limit: 1, after: all[0]?.email });
    expect(next).toEqual([all[1]]);
  });
});
