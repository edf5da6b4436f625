import { type Pool } from 'pg';
import { hashApiKey } from '../../plugins/core/access/api-key';
import { type AccessRecords } from '../../plugins/core/ports';
import { checkSubscription } from '../../plugins/core/access/subscription';
import { checkWhitelist } from '../../plugins/core/access/whitelist';
import { changeSubscription, setDailyCap, setSubscriptionState } from '../../services/selling/subscriptions/change-subscription';
import { createCustomer } from '../../services/selling/customers/create-customer';
import { createKey, type CreatedKey, type CreateKeyOptions } from '../../services/selling/keys/create-key';
import { expireKey, revokeKey, setKeyState } from '../../services/selling/keys/set-key-state';
import { replaceKeyRules } from '../../services/selling/keys/whitelist-rules';
import { rotateKey } from '../../services/selling/keys/rotate-key';
import { renameOrganisation } from '../../services/selling/members/rename-organisation';
import { suspendCustomer, suspendKey, suspendSubscription } from '../../services/selling/suspensions/suspend';

/** What the suite needs of an adapter over a real database. */
export interface AccessRecordsUnderTest {
  readonly records: AccessRecords;
  /** Where the suite makes its changes. */
  readonly pool: Pool;
  /** Resolves once a committed change must be visible. */
  readonly settle: () => Promise<void>;
}

const actor = 'test';
let customers = 0;

/** A key of a new customer. */
export async function newKey(
  pool: Pool,
  options: Partial<CreateKeyOptions> = {},
): Promise<CreatedKey & { customerId: string; hash: string }> {
  customers += 1;
  const customer = await createCustomer(pool, { email: `customer-${customers}@example.com`, actor });
  const created = await createKey(pool, { customer: customer.id, products: ['api-ip'], actor, ...options });
  return { ...created, customerId: customer.id, hash: hashApiKey(created.key) };
}

/** @returns finds the key's record once a change must be visible */
function recordAfter({ records, settle }: AccessRecordsUnderTest, hash: string) {
  return async (change: Promise<unknown>): ReturnType<AccessRecords['findAccessRecord']> => {
    await change;
    await settle();
    return records.findAccessRecord(hash);
  };
}

/** The guarantees of the port AccessRecords, for every adapter. */
export function describeAccessRecords(name: string, open: () => AccessRecordsUnderTest): void {
  describe(`${name} as AccessRecords`, () => {
    it('finds a key by its hash with all that the checks need', async () => {
      const { records, pool } = open();
      const expiresAt = new Date('2031-02-03T04:05:06.789Z');
      const made = await newKey(pool, {
        products: ['api-pincode', 'api-ip'],
        plan: 'Star',
        mode: 'test',
        expiresAt,
        rules: ['10.0.0.0/8', '*.Example.com'],
      });
      const record = await records.findAccessRecord(made.hash);
      expect(record).toMatchObject({
        credentialId: made.id,
        customerId: made.customerId,
        mode: 'test',
        state: 'active',
        expiresAtMs: expiresAt.getTime(),
      });
      expect(record?.products).toEqual(['api-ip', 'api-pincode']);
      expect(record?.subscriptions.map(({ product, plan, limits }) => ({ product, plan, limits }))).toEqual([
        { product: 'api-ip', plan: 'Star', limits: { daily: 100_000, monthly: 3_000_000 } },
        { product: 'api-pincode', plan: 'Star', limits: { daily: 100_000, monthly: 3_000_000 } },
      ]);
      if (!record) throw new Error('no record');
      expect(checkWhitelist(record.whitelist, { address: '10.1.2.3', originHost: undefined })).toEqual({
        admitted: true,
        rule: '10.0.0.0/8',
      });
      expect(checkWhitelist(record.whitelist, { address: '11.1.2.3', originHost: 'www.example.com' }).admitted).toBe(true);
      expect(checkWhitelist(record.whitelist, { address: '11.1.2.3', originHost: 'example.com' }).admitted).toBe(false);
    });

    it('answers undefined for a key that does not exist, and finds it once it does', async () => {
      const { records, pool, settle } = open();
      await expect(records.findAccessRecord('0'.repeat(64))).resolves.toBeUndefined();
      const made = await newKey(pool);
      await settle();
      await expect(records.findAccessRecord(made.hash)).resolves.toMatchObject({ credentialId: made.id });
    });

    it('shows every change of a key', async () => {
      const { records, pool } = open();
      const { id, hash } = await newKey(pool);
      const after = recordAfter(open(), hash);
      await records.findAccessRecord(hash);
      expect(await after(setKeyState(pool, { id, state: 'inactive', actor }))).toMatchObject({ state: 'inactive' });
      expect(await after(setKeyState(pool, { id, state: 'active', actor }))).toMatchObject({ state: 'active' });
      expect((await after(replaceKeyRules(pool, { id, rules: ['192.0.2.1'], actor })))?.whitelist.size).toBe(1);
      expect((await after(replaceKeyRules(pool, { id, rules: [], actor })))?.whitelist.size).toBe(0);
      expect((await after(expireKey(pool, { id, actor })))?.expiresAtMs).toBeLessThanOrEqual(Date.now() + 1_000);
      expect(await after(revokeKey(pool, { id, actor }))).toMatchObject({ state: 'revoked' });
    });

    it('shows every change of a subscription, and of another key made for it', async () => {
      const { records, pool } = open();
      const { subscriptions, hash, customerId } = await newKey(pool);
      const id = subscriptions[0]?.id ?? '';
      const after = async (change: Promise<unknown>) => (await recordAfter(open(), hash)(change))?.subscriptions[0];
      await records.findAccessRecord(hash);
      const limitsOf = (daily: number, monthly: number): unknown => expect.objectContaining({ limits: { daily, monthly } });
      expect(await after(changeSubscription(pool, { id, plan: 'Star', actor }))).toEqual(limitsOf(100_000, 3_000_000));
      expect(await after(changeSubscription(pool, { id, daily: 3, actor }))).toEqual(limitsOf(3, 3_000_000));
      expect(await after(changeSubscription(pool, { id, daily: null, plan: null, actor }))).toEqual(limitsOf(1_000, 30_000));
      const capped = (daily: number): unknown => expect.objectContaining({ limits: { daily, monthly: 30_000 }, isCapped: true });
      expect(await after(setDailyCap(pool, { id, cap: 5, actor }))).toEqual(capped(5));
      expect(await after(setDailyCap(pool, { id, cap: 0, actor }))).toEqual(capped(0));
      expect(await after(setDailyCap(pool, { id, cap: 5_000, actor }))).toEqual(expect.not.objectContaining({ isCapped: true }));
      expect(await after(setDailyCap(pool, { id, cap: null, actor }))).toEqual(limitsOf(1_000, 30_000));
      expect(await after(createKey(pool, { customer: customerId, products: ['api-ip'], monthly: 7, actor }))).toEqual(limitsOf(1_000, 7));
      expect(await after(setSubscriptionState(pool, { id, state: 'paused', actor }))).toMatchObject({ state: 'paused' });
      expect(await after(setSubscriptionState(pool, { id, state: 'cancelled', actor }))).toMatchObject({ state: 'cancelled' });
    });

    it('shows the rate of its own, else that of the base limits without a plan, and on a plan that of the plan alone', async () => {
      const { pool } = open();
      const { subscriptions, hash } = await newKey(pool, { products: ['api-vahaan'] });
      const id = subscriptions[0]?.id ?? '';
      const rateAfter = async (change: Promise<unknown>) => (await recordAfter(open(), hash)(change))?.subscriptions[0]?.limits.rate;
      const setRate = (table: string, rate: object | null): Promise<unknown> =>
        pool.query(`UPDATE ${table} SET rate = $1 WHERE ${table === 'plan' ? 'product_id' : 'id'} = 'api-vahaan'`, [rate]);
      const [ofBase, ofPlan] = [10, 50].map((limit) => ({ limit, windowSeconds: 1, burst: 20 }));
      expect(await rateAfter(Promise.resolve())).toBeUndefined();
      expect(await rateAfter(setRate('product', ofBase ?? null))).toEqual(ofBase);
      expect(await rateAfter(changeSubscription(pool, { id, plan: 'Star', actor }))).toBeUndefined();
      expect(await rateAfter(setRate('plan', ofPlan ?? null))).toEqual(ofPlan);
      const own = { limit: 600, windowSeconds: 60, burst: 5 } as const;
      expect(await rateAfter(changeSubscription(pool, { id, rate: own, actor }))).toEqual(own);
      expect(await rateAfter(changeSubscription(pool, { id, plan: null, actor }))).toEqual(ofBase);
      expect(await rateAfter(changeSubscription(pool, { id, plan: 'Star', actor }))).toEqual(own);
      expect(await rateAfter(changeSubscription(pool, { id, rate: null, actor }))).toEqual(ofPlan);
      await setRate('product', null);
      expect(await rateAfter(setRate('plan', null))).toBeUndefined();
    });

    it('shows what the price includes only where use above it is sold, and to live keys alone', async () => {
      const { pool } = open();
      const options = { products: ['api-vahaan'], plan: 'Star' };
      const [live, test] = [await newKey(pool, options), await newKey(pool, { ...options, mode: 'test' })];
      const sell = (overage: object | null): Promise<unknown> =>
        pool.query("UPDATE plan SET overage = $1 WHERE product_id = 'api-vahaan'", [overage]);
      const includedAfter = async (hash: string, change: Promise<unknown>) =>
        (await recordAfter(open(), hash)(change))?.subscriptions[0]?.limits.included;
      expect(await includedAfter(live.hash, Promise.resolve())).toBeUndefined();
      const included = { daily: 100, monthly: 1_000 };
      expect(await includedAfter(live.hash, sell({ per: 10, price: '2.00', ...included }))).toEqual(included);
      expect(await includedAfter(test.hash, Promise.resolve())).toBeUndefined();
      const [{ id = '' } = {}] = live.subscriptions;
      const own = changeSubscription(pool, { id, daily: 200, monthly: 2_000, actor });
      expect(await includedAfter(live.hash, own)).toBeUndefined();
      expect(await includedAfter(live.hash, sell(null))).toBeUndefined();
    });

    it('shows what the seller suspends and restores: a key, a subscription, a customer with all it has', async () => {
      const { pool } = open();
      const { id, hash, customerId, subscriptions } = await newKey(pool, { products: ['api-ip', 'api-pincode'] });
      const subscription = subscriptions[0]?.id ?? '';
      const after = async (change: Promise<unknown>): Promise<unknown> => {
        const record = await recordAfter(open(), hash)(change);
        return [record?.suspended, ...(record?.subscriptions ?? []).map(({ suspended }) => suspended)];
      };
      const none = [undefined, undefined, undefined];
      const reason = 'unpaid';
      expect(await after(Promise.resolve())).toEqual(none);
      expect(await after(suspendKey(pool, { id, reason, actor }))).toEqual(['unpaid', undefined, undefined]);
      expect(await after(suspendKey(pool, { id, reason: '', actor }))).toEqual(['', undefined, undefined]);
      expect(await after(suspendKey(pool, { id, reason: undefined, actor }))).toEqual(none);
      expect(await after(suspendSubscription(pool, { id: subscription, reason, actor }))).toEqual([undefined, 'unpaid', undefined]);
      expect(await after(suspendSubscription(pool, { id: subscription, reason: undefined, actor }))).toEqual(none);
      expect(await after(suspendCustomer(pool, { customer: customerId, reason, actor }))).toEqual([undefined, 'unpaid', 'unpaid']);
      expect(await after(suspendCustomer(pool, { customer: customerId, reason: undefined, actor }))).toEqual(none);
    });

    it('says what the customer is called, as soon as that changes', async () => {
      const under = open();
      const { customerId, hash } = await newKey(under.pool);
      const after = recordAfter(under, hash);
      const rename = (name: string): Promise<void> => renameOrganisation(under.pool, { customerId, name, actor });
      expect((await after(Promise.resolve()))?.customerName).toBeUndefined();
      for (const name of ['Acme', 'Acme Ltd']) expect((await after(rename(name)))?.customerName).toBe(name);
    });

    it('leaves out subscriptions to products that the key is not authorised for', async () => {
      const { records, pool } = open();
      const { customerId, hash } = await newKey(pool);
      await createKey(pool, { customer: customerId, products: ['api-seo'], actor });
      expect((await records.findAccessRecord(hash))?.subscriptions.map(({ product }) => product)).toEqual(['api-ip']);
    });

    it('admits the old and the new key during an overlap, and the new one alone without', async () => {
      const { records, pool, settle } = open();
      const { id, hash } = await newKey(pool);
      await records.findAccessRecord(hash);
      const second = await rotateKey(pool, { id, overlapMs: 60_000, actor });
      await settle();
      const verdict = async (of: string): Promise<boolean> =>
        checkSubscription(await records.findAccessRecord(of), ['api-ip'], Date.now()).ok;
      await expect(verdict(hash)).resolves.toBe(true);
      await expect(verdict(hashApiKey(second.key))).resolves.toBe(true);
      const third = await rotateKey(pool, { id: second.id, actor });
      await settle();
      await expect(verdict(hashApiKey(second.key))).resolves.toBe(false);
      await expect(verdict(hashApiKey(third.key))).resolves.toBe(true);
    });
  });
}
