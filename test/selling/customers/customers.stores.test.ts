import { createCustomer } from '../../../services/selling/customers/create-customer';
import {
  type CustomerLimits,
  DEFAULT_LIMITS,
  setCustomerLimits,
  showCustomerLimits,
} from '../../../services/selling/customers/customer-limits';
import { createKey, type CreatedKey } from '../../../services/selling/keys/create-key';
import { rotateKey } from '../../../services/selling/keys/rotate-key';
import { revokeKey, setKeyState } from '../../../services/selling/keys/set-key-state';
import { replaceKeyRules } from '../../../services/selling/keys/whitelist-rules';
import { pruneAudit } from '../../../plugins/stores/postgres/decisions/prune-audit';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { listCustomers, showCustomer } from '../../../services/selling/suspensions/show-customers';
import { showKey } from '../../../services/selling/keys/key-view';
import { createSubscription } from '../../../services/selling/subscriptions/subscribe';
import { setSubscriptionState } from '../../../services/selling/subscriptions/change-subscription';
import { suspendCustomer, suspendKey, suspendSubscription } from '../../../services/selling/suspensions/suspend';
import { newKey as anyKey } from '../../contracts/access-records';
import { useDatabase } from '../../support/postgres/use-database';

const actor = 'test';

const database = useDatabase();

const refusal = (code: string): unknown => expect.objectContaining({ name: 'OperationRefused', code });
const rulesOf = (count: number, from = 0): string[] => Array.from({ length: count }, (_, index) => `r${from + index}.example.com`);

async function newCustomer(limits?: Partial<CustomerLimits>): Promise<string> {
  const { id } = await createCustomer(database.pool, { email: `${Math.random().toString(36).slice(2)}@example.com`, actor });
  if (limits) await setCustomerLimits(database.pool, { customer: id, limits, actor });
  return id;
}

const newKey = (customer: string, rules: readonly string[] = []): Promise<CreatedKey> =>
  createKey(database.pool, { customer, products: ['api-ip'], rules, actor });

const replace = (id: string, rules: readonly string[]): Promise<unknown> => replaceKeyRules(database.pool, { id, rules, actor });

describe('the limits of a customer', () => {
  it('are the defaults until an operator sets others, each for itself', async () => {
    const customer = await newCustomer();
    const shown = async (): Promise<unknown> => (await showCustomerLimits(database.pool, { customer })).limits;
    expect(await shown()).toEqual({ keys: 200, rules: 20_000, writesPerMinute: 120 });
    await setCustomerLimits(database.pool, { customer, limits: { keys: 300 }, actor });
    await setCustomerLimits(database.pool, { customer, limits: { rules: 5 }, actor });
    expect(await shown()).toEqual({ ...DEFAULT_LIMITS, keys: 300, rules: 5 });
  });

  it('refuse a key too many, until one is revoked', async () => {
    const customer = await newCustomer({ keys: 2 });
    const { id } = await newKey(customer);
    await newKey(customer);
    await expect(newKey(customer)).rejects.toEqual(refusal('key_limit_reached'));
    await revokeKey(database.pool, { id, actor });
    await newKey(customer);
    expect((await showCustomerLimits(database.pool, { customer })).used.keys).toBe(2);
  });

  it('hold for keys that are made at once', async () => {
    const customer = await newCustomer({ keys: 3 });
    const made = await Promise.allSettled(Array.from({ length: 8 }, () => newKey(customer)));
    expect(made.filter(({ status }) => status === 'fulfilled')).toHaveLength(3);
    expect((await showCustomerLimits(database.pool, { customer })).used.keys).toBe(3);
  });

  it('refuse a rule too many on a key', async () => {
    const customer = await newCustomer({ rules: 5_000 });
    await expect(newKey(customer, rulesOf(1_001))).rejects.toEqual(refusal('rule_limit_reached'));
    const { id } = await newKey(customer, rulesOf(1_000));
    await expect(replace(id, rulesOf(1_001))).rejects.toEqual(refusal('rule_limit_reached'));
    await replace(id, rulesOf(1_000, 500));
  });

  it('hold for the rules of all keys that are changed at once, and count none of revoked keys', async () => {
    const customer = await newCustomer({ rules: 10 });
    const keys = await Promise.all([1, 2, 3].map(() => newKey(customer)));
    const changes = await Promise.allSettled(keys.map(({ id }) => replace(id, rulesOf(5))));
    expect(changes.filter(({ status }) => status === 'fulfilled')).toHaveLength(2);
    await expect(newKey(customer, rulesOf(1))).rejects.toEqual(refusal('rule_limit_reached'));
    for (const { id } of keys) await revokeKey(database.pool, { id, actor });
    await newKey(customer, rulesOf(10));
  });

  it('leave a customer above them all it has, let it have less and rotate, and nothing more', async () => {
    const customer = await newCustomer();
    const [first, second] = [await newKey(customer, rulesOf(6)), await newKey(customer, rulesOf(4))];
    await setCustomerLimits(database.pool, { customer, limits: { keys: 1, rules: 8 }, actor });
    await replace(first.id, rulesOf(6, 3));
    await expect(replace(first.id, rulesOf(7))).rejects.toEqual(refusal('rule_limit_reached'));
    await replace(first.id, rulesOf(5));
    const rotated = await rotateKey(database.pool, { id: second.id, actor });
    await expect(rotateKey(database.pool, { id: rotated.id, overlapMs: 1_000, actor })).rejects.toEqual(refusal('key_limit_reached'));
    expect((await showCustomerLimits(database.pool, { customer })).used).toEqual({ keys: 2, rules: 9 });
  });

  it('are in the audit log when they change', async () => {
    const customer = await newCustomer({ keys: 300 });
    const { rows } = await database.pool.query("SELECT details FROM audit_log WHERE subject_id = $1 AND action = 'customer.limits'", [
      customer,
    ]);
    expect(rows).toEqual([{ details: { before: DEFAULT_LIMITS, after: { ...DEFAULT_LIMITS, keys: 300 } } }]);
  });
});

/** Lines whose ages in days are these. */
async function linesOf(...days: number[]): Promise<void> {
  const INSERT = `INSERT INTO audit_log (at, actor, action, subject_kind, subject_id) VALUES (now() - $1 * interval '1 day', 'test', 'key.create', 'product', $2)`;
  for (const age of days) await database.pool.query(INSERT, [age, String(age)]);
}

/** Of all lines of {@link linesOf} that are left. */
const ages = async (): Promise<number[]> => {
  const { rows } = await database.pool.query<{ age: number }>(
    "SELECT subject_id::int AS age FROM audit_log WHERE subject_id ~ '^[0-9]+$' ORDER BY age DESC",
  );
  return rows.map(({ age }) => age);
};

describe('the audit log', () => {
  it('loses the lines that are older than it is told, in batches, and no other', async () => {
    const { rows } = await database.pool.query<{ count: number }>('SELECT count(*)::int AS count FROM audit_log');
    await linesOf(900, 800, 700, 600, 500, 401, 399, 100, 1);
    // Two old lines at a time, behind those that a new database has.
    const batch = (rows[0]?.count ?? 0) + 2;
    expect(await pruneAudit(database.pool, { days: 400, batch })).toBe(6);
    expect(await ages()).toEqual([399, 100, 1]);
    expect(await pruneAudit(database.pool, { days: 400 })).toBe(0);
  });

  it('keeps the lines of 90 days whoever asks for how few', async () => {
    await linesOf(91, 89, 0);
    await pruneAudit(database.pool, { days: 1 });
    expect(await ages()).toEqual([89, 1, 0]);
    await expect(database.pool.query('DELETE FROM audit_log')).rejects.toMatchObject({ constraint: 'audit_log_is_append_only' });
    await expect(database.pool.query('DELETE FROM audit_log WHERE subject_id = $1', ['89'])).rejects.toThrow('only ever appended');
  });

  it('is pruned by the plugin server’s role, which may delete no line by itself, and by no other process', async () => {
    await linesOf(500);
    for (const role of ['tollgate_dashboard', 'tollgate_service'] as const) {
      const other = createPool(database.urlAs(role), { max: 1 });
      await expect(pruneAudit(other, { days: 400 })).rejects.toMatchObject({ code: '42501' });
      await other.end();
    }
    const plugin = createPool(database.urlAs('tollgate_plugin'), { max: 1 });
    await expect(plugin.query('DELETE FROM audit_log')).rejects.toMatchObject({ code: '42501' });
    expect(await pruneAudit(plugin, { days: 400 })).toBe(1);
    await plugin.end();
  });
});

const operator = 'cli';
const itself = { name: 'dashboard:asha@example.com', from: '203.0.113.1' };
const reason = 'unpaid since August';

const suspended = { reason, since: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/) };
const auditOf = async (id: string): Promise<unknown[]> => {
  const text = "SELECT actor, action, details FROM audit_log WHERE subject_id = $1 AND action ~ 'suspend|restore' ORDER BY id";
  return (await database.pool.query(text, [id])).rows;
};

describe('a suspension by the seller', () => {
  it('of a subscription is lifted by no act of its customer, nor by subscribing again', async () => {
    const { pool } = database;
    const { subscriptions, customerId } = await anyKey(pool);
    const id = subscriptions[0]?.id ?? '';
    expect(await suspendSubscription(pool, { id, reason, actor: operator })).toMatchObject({ state: 'active', suspended });
    for (const state of ['paused', 'active', 'cancelled'] as const) {
      await setSubscriptionState(pool, { id, customerId, state, actor: itself });
      expect((await showCustomer(pool, { customer: customerId })).subscriptions[0]).toMatchObject({ id, state, suspended });
    }
    expect(await createSubscription(pool, { customer: customerId, product: 'api-ip', actor: itself })).toMatchObject({ id, suspended });
    await setSubscriptionState(pool, { id, state: 'paused', actor: itself });
    expect(await suspendSubscription(pool, { id, reason: undefined, actor: operator })).toMatchObject({ state: 'paused', suspended: null });
  });

  it('of a key is lifted by no act of its customer, and the key cannot be rotated out of it', async () => {
    const { pool } = database;
    const { id, customerId } = await anyKey(pool);
    expect(await suspendKey(pool, { id, reason, actor: operator })).toMatchObject({ state: 'active', suspended });
    for (const state of ['inactive', 'active'] as const) await setKeyState(pool, { id, customerId, state, actor: itself });
    for (const overlapMs of [0, 60_000]) {
      await expect(rotateKey(pool, { id, customerId, overlapMs, actor: itself })).rejects.toMatchObject({ code: 'key_not_usable' });
    }
    expect(await showKey(pool, { id })).toMatchObject({ suspended });
    await suspendKey(pool, { id, reason: undefined, actor: operator });
    expect(await rotateKey(pool, { id, customerId, actor: itself })).toMatchObject({ rotatedFrom: id });
  });

  it('is audited once for each thing that it changes', async () => {
    const { pool } = database;
    const { customerId } = await anyKey(pool);
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
    const { id } = await anyKey(pool);
    const first = await suspendKey(pool, { id, reason: 'one', actor: operator });
    const second = await suspendKey(pool, { id, reason: 'two', actor: operator });
    expect(second.suspended).toEqual({ reason: 'two', since: first.suspended?.since });
  });

  it('is refused with a reason that is too long, and of what does not exist', async () => {
    const { pool } = database;
    const { id } = await anyKey(pool);
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
      const { id } = await anyKey(database.pool);
      await suspendKey(database.pool, { id, reason, actor: operator });
      const pool = createPool(database.urlAs(role), { max: 1 });
      await expect(suspendKey(pool, { id, reason: undefined, actor: itself })).rejects.toMatchObject({ code: '42501' });
      await expect(pool.query('DELETE FROM suspension')).rejects.toMatchObject({ code: '42501' });
      expect(await showKey(database.pool, { id })).toMatchObject({ suspended });
      await pool.end();
    },
  );
});

describe('customers', () => {
  it('are listed by address, found by a part of it, and told apart by their suspension', async () => {
    const made = await Promise.all([1, 2, 3].map(() => anyKey(database.pool)));
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
