import { createHash } from 'node:crypto';
import { hashApiKey, isPlausibleKey } from '../../../plugins/core/access/api-key';
import { createCustomer } from '../../../services/selling/customers/create-customer';
import { createKey, importKey } from '../../../services/selling/keys/create-key';
import { ascendingId } from '../../../services/selling/keys/ascending-id';
import { changeKey } from '../../../services/selling/keys/change-key';
import { expireKey, revokeKey, setKeyState } from '../../../services/selling/keys/set-key-state';
import { findCustomer } from '../../../services/selling/customers/find-customer';
import { listKeys, showKey } from '../../../services/selling/keys/key-view';
import { replaceKeyRules } from '../../../services/selling/keys/whitelist-rules';
import { rotateKey } from '../../../services/selling/keys/rotate-key';
import { DEMO_EMAIL, ensureDemoCustomer } from '../../../services/selling/customers/join-customer';
import { newKey } from '../../contracts/access-records';
import { useDatabase } from '../../support/postgres/use-database';

const actor = 'test';
const nobody = '00000000-0000-4000-8000-000000000000';

const database = useDatabase();

const refusal = (code: string): unknown => expect.objectContaining({ name: 'OperationRefused', code });

async function rowCounts(): Promise<unknown> {
  const { rows } = await database.pool.query(
    `SELECT (SELECT count(*) FROM credential) AS keys, (SELECT count(*) FROM subscription) AS subscriptions,
       (SELECT count(*) FROM audit_log) AS audit, (SELECT count(*) FROM whitelist_rule) AS rules`,
  );
  return rows[0];
}

describe('customers', () => {
  it('takes each email address once, whatever its case', async () => {
    const made = await createCustomer(database.pool, { email: ' Mixed.Case@Example.com ', actor });
    expect(made.email).toBe('Mixed.Case@Example.com');
    await expect(createCustomer(database.pool, { email: 'mixed.case@example.COM', actor })).rejects.toEqual(refusal('customer_exists'));
    await expect(findCustomer(database.pool, 'MIXED.case@example.com')).resolves.toEqual(made);
    await expect(findCustomer(database.pool, made.id)).resolves.toEqual(made);
  });

  it.each([
    'asha\u202Emoc@example.com',
    'asha\0@example.com',
    'asha\u200B@example.com',
    '',
    'no-at',
    'two words@example.com',
    `${'a'.repeat(250)}@b.de`,
  ])('refuses the address %j', async (email) => {
    await expect(createCustomer(database.pool, { email, actor })).rejects.toEqual(refusal('email_malformed'));
  });

  it('makes the customer of the first steps once, when it is named, and no other', async () => {
    const ensure = (customer: string): Promise<void> => ensureDemoCustomer(database.pool, { customer, actor });
    await ensure('nobody@example.com');
    expect([await findCustomer(database.pool, 'nobody@example.com'), await findCustomer(database.pool, DEMO_EMAIL)]).toEqual([
      undefined,
      undefined,
    ]);
    await Promise.all([1, 2, 3].map(() => ensure(' You@Example.com')));
    expect((await findCustomer(database.pool, DEMO_EMAIL))?.email).toBe(DEMO_EMAIL);
  });
});

describe('createKey', () => {
  it('returns a well-formed key once and keeps nothing that could give it back', async () => {
    const { key, id } = await newKey(database.pool, { name: 'shop' });
    expect(isPlausibleKey(key)).toBe(true);
    const dumps = await Promise.all(
      ['credential', 'audit_log', 'subscription', 'customer'].map((table) =>
        database.pool.query(`SELECT row_to_json(t)::text AS text FROM ${table} t`),
      ),
    );
    const everything = JSON.stringify(dumps.flatMap(({ rows }) => rows));
    expect(everything).toContain(id);
    expect(everything).not.toContain(key.slice(8, 28));
    const audit = JSON.stringify((await database.pool.query('SELECT row_to_json(t)::text AS text FROM audit_log t')).rows);
    expect(audit).not.toContain(hashApiKey(key));
    const shown = await showKey(database.pool, { id });
    expect(shown).toMatchObject({ name: 'shop', maskedKey: `tg_live…${key.slice(-4)}`, mode: 'live', state: 'active', expired: false });
  });

  it('subscribes the customer to each product, with the limits in force', async () => {
    const { subscriptions } = await newKey(database.pool, { products: ['api-pincode', 'api-ip', 'api-ip'], plan: 'star', daily: 5 });
    expect(subscriptions.map(({ product, plan, daily, monthly, state }) => ({ product, plan, daily, monthly, state }))).toEqual([
      { product: 'api-ip', plan: 'Star', daily: 5, monthly: 3_000_000, state: 'active' },
      { product: 'api-pincode', plan: 'Star', daily: 5, monthly: 3_000_000, state: 'active' },
    ]);
  });

  it('joins the subscription that exists, and gives it a plan when it has none', async () => {
    const first = await newKey(database.pool);
    const again = { customer: first.customerId, products: ['api-ip'], actor };
    const second = await createKey(database.pool, again);
    expect(second.subscriptions).toEqual(first.subscriptions);
    const third = await createKey(database.pool, { ...again, plan: 'Star' });
    expect(third.subscriptions[0]).toMatchObject({ id: first.subscriptions[0]?.id, plan: 'Star' });
  });

  it('refuses a plan other than the one that the subscription is on', async () => {
    const { customerId } = await newKey(database.pool, { plan: 'Star' });
    await database.pool.query("INSERT INTO plan VALUES ('api-ip', 'Moon', 1, 2, 3) ON CONFLICT DO NOTHING");
    const before = await rowCounts();
    const other = createKey(database.pool, { customer: customerId, products: ['api-ip'], plan: 'Moon', actor });
    await expect(other).rejects.toEqual(refusal('plan_differs'));
    expect(await rowCounts()).toEqual(before);
  });

  it('authorises without a subscription when asked to', async () => {
    const { subscriptions, id } = await newKey(database.pool, { subscribe: false, products: ['api-pan', 'api-ip'] });
    expect(subscriptions).toEqual([]);
    expect((await showKey(database.pool, { id })).products).toEqual(['api-ip', 'api-pan']);
  });

  it.each([
    ['an unknown customer', { customer: 'stranger@example.com' }, 'customer_unknown'],
    ['an unknown product', { products: ['api-ip', 'api-nothing'] }, 'product_unknown'],
    ['no product', { products: [] }, 'product_missing'],
    ['a product without limits', { products: ['api-pan'] }, 'product_without_limits'],
    ['a product that is only listed', { products: ['api-vahan'] }, 'product_not_offered'],
    ['an unknown plan', { plan: 'Galaxy' }, 'plan_unknown'],
    ['an unknown plan without a subscription', { plan: 'Galaxy', subscribe: false }, 'plan_unknown'],
    ['a plan that the product does not have', { products: ['api-image'], plan: 'Star' }, 'plan_unknown'],
    ['an unknown mode', { mode: 'demo' as 'live' }, 'mode_unknown'],
    ['a malformed rule', { rules: ['10.0.0.0/8', '10.0.0.1/8'] }, 'rule_malformed'],
    ['a negative limit', { daily: -1 }, 'limit_malformed'],
    ['a fractional limit', { monthly: 1.5 }, 'limit_malformed'],
    ['a limit beyond any counter', { monthly: 1e12 }, 'limit_malformed'],
    ['a malformed date', { expiresAt: new Date('nonsense') }, 'date_malformed'],
    ['an empty name', { name: ' ' }, 'name_malformed'],
  ])('refuses %s and changes nothing', async (_, options, code) => {
    const { id: customer } = await createCustomer(database.pool, { email: `${code}-${Math.random()}@example.com`, actor });
    const before = await rowCounts();
    await expect(createKey(database.pool, { customer, products: ['api-ip'], actor, ...options })).rejects.toEqual(refusal(code));
    expect(await rowCounts()).toEqual(before);
  });

  it('makes many keys of one customer at once without a deadlock', async () => {
    const { customerId } = await newKey(database.pool);
    const orders = [
      ['api-seo', 'api-gst', 'api-app'],
      ['api-app', 'api-seo', 'api-gst'],
      ['api-gst', 'api-app', 'api-seo'],
    ];
    const made = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        createKey(database.pool, { customer: customerId, products: orders[index % 3] ?? [], daily: index, actor }),
      ),
    );
    expect(new Set(made.flatMap(({ subscriptions }) => subscriptions.map(({ id }) => id))).size).toBe(3);
  });
});

it('makes ids that ascend, also 20,000 in a few milliseconds', () => {
  const ids = Array.from({ length: 20_000 }, ascendingId);
  expect(ids).toEqual(ids.toSorted());
  expect(new Set(ids).size).toBe(ids.length);
  expect(ids.filter((id) => !/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(id))).toEqual([]);
});

describe('importKey', () => {
  it('stores a foreign key by its hash, once', async () => {
    const { customerId } = await newKey(database.pool);
    const hash = hashApiKey('somebody-elses-key-0001');
    const options = { customer: customerId, products: ['api-ip'], hash: hash.toUpperCase(), lastFour: '0001', actor };
    const { id } = await importKey(database.pool, options);
    expect(await showKey(database.pool, { id })).toMatchObject({ maskedKey: '…0001', mode: 'live' });
    await expect(importKey(database.pool, options)).rejects.toEqual(refusal('key_exists'));
    await expect(importKey(database.pool, { ...options, hash: 'abc' })).rejects.toEqual(refusal('hash_malformed'));
  });
});

describe('changes of a key', () => {
  it('refuses ids that are unknown, malformed or of another customer', async () => {
    const { id } = await newKey(database.pool);
    const { customerId } = await newKey(database.pool);
    for (const key of [{ id: nobody }, { id: "'; --" }, { id, customerId }]) {
      await expect(showKey(database.pool, key)).rejects.toEqual(refusal('key_unknown'));
      await expect(revokeKey(database.pool, { ...key, actor })).rejects.toEqual(refusal('key_unknown'));
      await expect(rotateKey(database.pool, { ...key, actor })).rejects.toEqual(refusal('key_unknown'));
      await expect(expireKey(database.pool, { ...key, actor })).rejects.toEqual(refusal('key_unknown'));
      await expect(replaceKeyRules(database.pool, { ...key, rules: [], actor })).rejects.toEqual(refusal('key_unknown'));
    }
  });

  it('never brings a revoked key back', async () => {
    const { id } = await newKey(database.pool);
    await revokeKey(database.pool, { id, actor });
    await expect(revokeKey(database.pool, { id, actor })).resolves.toMatchObject({ state: 'revoked' });
    await expect(setKeyState(database.pool, { id, state: 'active', actor })).rejects.toEqual(refusal('key_not_usable'));
    await expect(rotateKey(database.pool, { id, actor })).rejects.toEqual(refusal('key_not_usable'));
    await expect(expireKey(database.pool, { id, at: null, actor })).rejects.toEqual(refusal('key_not_usable'));
  });

  it('rotates to a key with the same products, rules, mode, name and expiry', async () => {
    const expiresAt = new Date('2040-01-01T00:00:00Z');
    const old = await newKey(database.pool, {
      products: ['api-ip', 'api-seo'],
      rules: ['10.0.0.0/8'],
      mode: 'test',
      name: 'shop',
      expiresAt,
    });
    const rotated = await rotateKey(database.pool, { id: old.id, overlapMs: 3_600_000, actor });
    expect(rotated.key).toMatch(/^tg_test_/);
    const [before, after] = [await showKey(database.pool, { id: old.id }), await showKey(database.pool, { id: rotated.id })];
    expect(after).toMatchObject({
      products: before.products,
      rules: before.rules,
      mode: 'test',
      name: 'shop',
      expiresAt,
      rotatedFrom: old.id,
    });
    expect(after.subscriptions).toEqual(before.subscriptions);
    expect(before.state).toBe('active');
    expect(before.expiresAt).toEqual(rotated.oldKeyEndsAt);
    expect(before.expiresAt?.getTime()).toBeLessThanOrEqual(Date.now() + 3_600_000);
  });

  it('does not let an overlap prolong the old key', async () => {
    const expiresAt = new Date(Date.now() + 60_000);
    const { id } = await newKey(database.pool, { expiresAt });
    expect((await rotateKey(database.pool, { id, overlapMs: 86_400_000, actor })).oldKeyEndsAt).toEqual(expiresAt);
  });

  it.each([
    ['a longer overlap', 172_800_000],
    ['no overlap', 0],
  ])('gives a key of a second rotation, with %s, the end that was planned and not that of the overlap', async (_what, overlapMs) => {
    const planned = new Date('2040-01-01T00:00:00Z');
    for (const expiresAt of [undefined, planned]) {
      const { id } = await newKey(database.pool, { expiresAt });
      await rotateKey(database.pool, { id, overlapMs: 3_600_000, actor });
      const again = await rotateKey(database.pool, { id, overlapMs, actor });
      expect((await showKey(database.pool, { id: again.id })).expiresAt).toEqual(expiresAt ?? null);
      if (overlapMs > 0) expect(again.oldKeyEndsAt?.getTime()).toBeGreaterThan(Date.now() + 3_600_000);
    }
  });

  it('keeps the planned end through an overlap that a person ends, and through a new name', async () => {
    const { id } = await newKey(database.pool);
    const { oldKeyEndsAt } = await rotateKey(database.pool, { id, overlapMs: 3_600_000, actor });
    expect((await changeKey(database.pool, { id, name: 'renamed', actor })).expiresAt).toEqual(oldKeyEndsAt);
    const later = new Date('2040-01-01T00:00:00Z');
    expect((await changeKey(database.pool, { id, expiresAt: later, actor })).expiresAt).toEqual(later);
    expect((await expireKey(database.pool, { id, at: null, actor })).expiresAt).toBeNull();
  });

  it('refuses to rotate an inactive or expired key', async () => {
    const { id } = await newKey(database.pool);
    await setKeyState(database.pool, { id, state: 'inactive', actor });
    await expect(rotateKey(database.pool, { id, actor })).rejects.toEqual(refusal('key_not_usable'));
    const expired = await newKey(database.pool, { expiresAt: new Date(0) });
    await expect(rotateKey(database.pool, { id: expired.id, actor })).rejects.toEqual(refusal('key_not_usable'));
  });

  it('replaces rules in canonical form, or leaves them and names each that is malformed', async () => {
    const { id } = await newKey(database.pool, { rules: ['10.0.0.0/8'] });
    const { rules } = await replaceKeyRules(database.pool, { id, rules: ['EXAMPLE.com.', 'example.com', '192.0.2.7/32', '::1'], actor });
    expect(rules).toEqual(['example.com', '192.0.2.7', '::1']);
    await expect(
      replaceKeyRules(database.pool, { id, rules: ['not a rule', 'ok.example.com', '10.0.0.1/8'], actor }),
    ).rejects.toMatchObject({
      code: 'rule_malformed',
      message: expect.stringMatching(/^"not a rule" is not .*; "10\.0\.0\.1\/8" has host bits set/),
    });
    expect((await showKey(database.pool, { id })).rules).toHaveLength(3);
  });

  it('lists the keys of a customer, newest first', async () => {
    const { id, customerId } = await newKey(database.pool);
    const { id: second } = await rotateKey(database.pool, { id, actor });
    const keys = await listKeys(database.pool, { customer: customerId });
    expect(keys.map((key) => [key.id, key.state])).toEqual([
      [second, 'active'],
      [id, 'revoked'],
    ]);
    await expect(listKeys(database.pool, { customer: 'stranger@example.com' })).rejects.toEqual(refusal('customer_unknown'));
  });

  it('leaves of a long list of rules 20, how many more, and a hash of all of them', async () => {
    const rulesOf = (letter: string): string[] => Array.from({ length: 500 }, (_, index) => `${letter}${index}.example.com`);
    const { id } = await newKey(database.pool, { rules: rulesOf('a') });
    const { rules } = await replaceKeyRules(database.pool, { id, rules: [...rulesOf('b'), 'a7.example.com'], actor });
    const { rows } = await database.pool.query('SELECT details, pg_column_size(details) AS bytes FROM audit_log WHERE subject_id = $1', [
      id,
    ]);
    const [made, changed] = rows;
    expect(made.details.rules.slice(19)).toEqual([expect.stringMatching(/^a\d/), '480 more']);
    expect(changed.details.added.slice(19)).toEqual([expect.stringMatching(/^b\d/), '480 more']);
    expect(changed.details.removed.slice(19)).toEqual([expect.stringMatching(/^a\d/), '479 more']);
    const hash = createHash('sha256')
      .update([...rules].sort().join('\n'))
      .digest('hex');
    expect(changed.details.rulesHash).toBe(hash);
    expect(Math.max(made.bytes, changed.bytes)).toBeLessThan(2_000);
  });

  it('leaves a line in the audit log for every change, with its actor', async () => {
    const { id } = await newKey(database.pool);
    const by = { id, actor: 'operator' };
    await setKeyState(database.pool, { ...by, state: 'inactive' });
    await setKeyState(database.pool, { ...by, state: 'active' });
    await replaceKeyRules(database.pool, { ...by, rules: ['10.0.0.0/8'] });
    await expireKey(database.pool, { ...by, at: new Date('2040-01-01') });
    const { id: next } = await rotateKey(database.pool, by);
    const { rows } = await database.pool.query('SELECT actor, action, details FROM audit_log WHERE subject_id = $1 ORDER BY id', [id]);
    expect(rows.map(({ action }) => action)).toEqual([
      'key.create',
      'key.deactivate',
      'key.activate',
      'key.rules',
      'key.expire',
      'key.rotated',
    ]);
    expect(rows.slice(1).every((row) => row.actor === 'operator')).toBe(true);
    expect(rows.at(-1)?.details).toMatchObject({ rotatedTo: next });
  });
});
