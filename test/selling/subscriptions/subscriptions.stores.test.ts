import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { restIdOf } from '../../../plugins/core/catalogue/refunds';
import { counterOf } from '../../../plugins/core/access/subscription';
import { endLimits, setLimits } from '../../../services/selling/billing/limit-terms';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { createKey } from '../../../services/selling/keys/create-key';
import { approvePlanRequest, declinePlanRequest } from '../../../services/selling/subscriptions/answer-plan-request';
import { askForPlan, withdrawPlanRequest } from '../../../services/selling/subscriptions/ask-for-plan';
import { changeSubscription, setSubscriptionState } from '../../../services/selling/subscriptions/change-subscription';
import { createSubscription } from '../../../services/selling/subscriptions/subscribe';
import { listOpenRequests, type PlanRequestView, readCurrentRequests } from '../../../services/selling/subscriptions/plan-request-view';
import { listSubscriptions } from '../../../services/selling/subscriptions/subscription-view';
import { readUsage } from '../../../services/selling/subscriptions/usage-read';
import { claim } from '../../../services/selling/outbox/outbox';
import { newKey } from '../../contracts/access-records';
import { PRODUCTS } from '../../support/catalogue';
import { useDatabase } from '../../support/postgres/use-database';
import { postgresNode, StoreClock } from '../../stores/quota/harness';

const actor = 'test';

const database = useDatabase();

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

  it('holds own limits to the plan that they were given for, with their reason, until the subscription is back on it', async () => {
    const { subscriptions } = await newKey(database.pool, {});
    const id = subscriptions[0]?.id ?? '';
    const change = (to: { plan?: string | null; daily?: number }) => changeSubscription(database.pool, { id, ...to, actor });
    const term = { reason: 'a trial', setBy: 'op@example.com', endsAt: null };
    await setLimits(database.pool, { id, daily: 100, monthly: null, actor, ...term });
    const reasons = async () => (await database.pool.query<{ reason: string }>('SELECT reason FROM subscription_limit_term')).rows;
    expect(await change({ plan: 'Star' })).toMatchObject({ daily: 100_000, monthly: 3_000_000, dailyOverride: null });
    expect(await reasons()).toEqual([]);
    expect(await change({ daily: 9_000 })).toMatchObject({ daily: 9_000, monthly: 3_000_000 });
    expect(await change({ plan: null })).toMatchObject({ daily: 100, monthly: 30_000, dailyOverride: 100 });
    expect(await reasons()).toEqual([{ reason: 'a trial' }]);
    expect(await change({ plan: 'Star' })).toMatchObject({ daily: 9_000, monthly: 3_000_000 });
    // Given with the plan, they are the plan's, the same number too.
    expect(await change({ plan: null, daily: 9_000 })).toMatchObject({ daily: 9_000, monthly: 30_000 });
    expect(await change({ plan: 'Star' })).toMatchObject({ daily: 9_000 });
    expect(await change({ plan: null })).toMatchObject({ daily: 9_000 });
  });

  it('holds a rate of its own to its plan as it does the other limits, and keeps its reason while the rate alone is left', async () => {
    const { subscriptions } = await newKey(database.pool, {});
    const id = subscriptions[0]?.id ?? '';
    const change = (to: Partial<Parameters<typeof changeSubscription>[1]>) => changeSubscription(database.pool, { id, ...to, actor });
    const reasons = async () =>
      (await database.pool.query<{ reason: string }>('SELECT reason FROM subscription_limit_term WHERE subscription_id = $1', [id])).rows;
    const [rate, other] = [5, 6].map((burst) => ({ limit: 10, windowSeconds: 1, burst }) as const);
    const term = { id, reason: 'a partner', setBy: 'op@example.com', endsAt: null, actor };
    expect(await setLimits(database.pool, { ...term, daily: 100, monthly: null, rate })).toMatchObject({
      daily: 100,
      rate,
      rateOverride: rate,
    });
    expect(await setLimits(database.pool, { ...term, daily: null, monthly: null })).toMatchObject({ daily: 1_000, rate });
    expect(await reasons()).toEqual([{ reason: 'a partner' }]);
    expect(await change({ plan: 'Star' })).toMatchObject({ rate: null, rateOverride: null });
    expect(await reasons()).toEqual([]);
    expect(await change({ daily: 9 })).toMatchObject({ daily: 9, rate: null });
    expect(await change({ plan: null })).toMatchObject({ rate, daily: 1_000 });
    expect(await reasons()).toEqual([{ reason: 'a partner' }]);
    expect(await change({ plan: 'Star', rate: other })).toMatchObject({ rate: other });
    expect(await setLimits(database.pool, { ...term, daily: null, monthly: null, rate: null })).toMatchObject({ rate: null });
    expect(await reasons()).toEqual([]);
    const { rows } = await database.pool.query(
      "SELECT details -> 'after' -> 'rate' AS rate FROM audit_log WHERE subject_id = $1 AND action = 'subscription.change' ORDER BY id",
      [id],
    );
    expect(rows.map((row) => row.rate)).toEqual([rate, rate, null, null, rate, other, null]);
  });

  it('ends a rate of its own with its end', async () => {
    const { subscriptions } = await newKey(database.pool, {});
    const id = subscriptions[0]?.id ?? '';
    const rate = { limit: 10, windowSeconds: 1, burst: 5 } as const;
    const endsAt = new Date(Date.now() - 1_000);
    await setLimits(database.pool, { id, daily: null, monthly: null, rate, reason: 'a trial', setBy: 'op@example.com', endsAt, actor });
    expect(await endLimits(database.pool)).toBe(1);
    expect(await changeSubscription(database.pool, { id, daily: 4, actor })).toMatchObject({ rate: null, rateOverride: null });
  });

  it.each([
    [0, 1, 1],
    [1.5, 1, 1],
    [100_001, 1, 1],
    [6_000_001, 60, 1],
    [10, 1, 0],
    [10, 1, 100_001],
    [1, 60, 1_441],
  ] as const)('refuses a rate of its own of %d in %d s with bursts of %d', async (limit, windowSeconds, burst) => {
    const { subscriptions } = await newKey(database.pool, {});
    const wish = { id: subscriptions[0]?.id ?? '', rate: { limit, windowSeconds, burst }, actor };
    expect(() => changeSubscription(database.pool, wish)).toThrow(refusal('limit_malformed') as Error);
  });

  it('gives no limits back whose end has come meanwhile', async () => {
    const { subscriptions } = await newKey(database.pool, {});
    const id = subscriptions[0]?.id ?? '';
    const endsAt = new Date(Date.now() + 500);
    await setLimits(database.pool, { id, daily: 100, monthly: null, reason: 'a trial', setBy: 'op@example.com', endsAt, actor });
    await changeSubscription(database.pool, { id, plan: 'Star', actor });
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(await changeSubscription(database.pool, { id, plan: null, actor })).toMatchObject({ daily: 1_000, dailyOverride: null });
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

/** Star of api-ip is given on request, at this price. */
const sold = (price: string) =>
  createCatalogue(
    PRODUCTS.map((product) =>
      product.id === 'api-ip'
        ? { ...product, plans: product.plans.map((plan) => ({ ...plan, price, approval: 'request' as const })) }
        : product,
    ),
  );

const ask = (customer: string, product = 'api-ip') => askForPlan(database.pool, { customer, product, plan: 'star', actor: 'customer' });
async function asked(): Promise<{ customerId: string; subscriptionId: string; request: PlanRequestView }> {
  const { customerId, subscriptions } = await newKey(database.pool);
  return { customerId, subscriptionId: subscriptions[0]?.id ?? '', request: await ask(customerId) };
}
const planOf = async (customer: string) => (await listSubscriptions(database.pool, { customer })).map(({ plan, state }) => [plan, state]);
const approve = (id: string) => approvePlanRequest(database.pool, { id, actor });
const decline = (id: string, reason = 'Not yet.') => declinePlanRequest(database.pool, { id, actor, reason });

describe('a request for a plan', () => {
  beforeEach(async () => {
    await database.pool.query('DELETE FROM plan_request');
    await applyCatalogue(database.pool, sold('499.00'), { actor: 'test' });
  });

  it('leaves the subscription as it is until it is approved, and then changes it as any change does', async () => {
    const { customerId, request } = await asked();
    expect(request).toMatchObject({ plan: 'Star', price: '499.00', currency: 'INR', daily: 100_000, state: 'open', currentPlan: null });
    expect(await planOf(customerId)).toEqual([[null, 'active']]);
    expect((await listOpenRequests(database.pool, { limit: 10 })).requests).toEqual([request]);
    expect(await approve(request.id)).toMatchObject({ state: 'approved', currentPlan: 'Star' });
    expect(await planOf(customerId)).toEqual([['Star', 'active']]);
    expect((await listOpenRequests(database.pool, { limit: 10 })).requests).toEqual([]);
  });

  it('is approved once, however often and however many operators say so at once', async () => {
    const { customerId, request } = await asked();
    await Promise.all([approve(request.id), approve(request.id), approve(request.id)]);
    await approve(request.id);
    const { rows } = await database.pool.query(
      "SELECT actor, action FROM audit_log WHERE customer_id = $1 AND action IN ('subscription.approve', 'subscription.change')",
      [customerId],
    );
    expect(rows).toEqual([
      { actor, action: 'subscription.approve' },
      { actor, action: 'subscription.change' },
    ]);
  });

  it('ends in one way only, whoever is faster', async () => {
    const { customerId, request } = await asked();
    const ends = await Promise.allSettled([
      approve(request.id),
      decline(request.id),
      withdrawPlanRequest(database.pool, { id: request.id, customerId, actor: 'customer' }),
    ]);
    expect(ends.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    for (const end of ends) if (end.status === 'rejected') expect(end.reason).toEqual(refusal('request_closed'));
  });

  it('is declined with a reason, which the customer reads for 30 days', async () => {
    const { customerId, request } = await asked();
    await expect(decline(request.id, ' ')).rejects.toEqual(refusal('reason_malformed'));
    await decline(request.id);
    expect(await decline(request.id, 'Another reason.')).toMatchObject({ state: 'declined', reason: 'Not yet.' });
    expect(await planOf(customerId)).toEqual([[null, 'active']]);
    expect(await readCurrentRequests(database.pool, customerId)).toMatchObject([{ state: 'declined', reason: 'Not yet.' }]);
    await database.pool.query("UPDATE plan_request SET answered_at = now() - interval '31 days'");
    expect(await readCurrentRequests(database.pool, customerId)).toEqual([]);
  });

  it('is one at a time for a customer and product', async () => {
    const { customerId, subscriptionId, request } = await asked();
    const again = await Promise.all([ask(customerId), ask(customerId)]);
    expect(again.map(({ id }) => id)).toEqual([request.id, request.id]);
    await withdrawPlanRequest(database.pool, { id: request.id, customerId, actor: 'customer' });
    const next = await ask(customerId);
    expect(next.id).not.toBe(request.id);
    await approve(next.id);
    expect(await planOf(customerId)).toEqual([['Star', 'active']]);
    await expect(ask(customerId)).rejects.toEqual(refusal('plan_current'));
    expect(subscriptionId).not.toBe('');
  });

  it('subscribes a customer who had no subscription', async () => {
    const { customerId } = await newKey(database.pool, { products: ['api-gst'] });
    const request = await ask(customerId);
    expect(request.subscriptionId).toBeNull();
    await approve(request.id);
    expect(await planOf(customerId)).toEqual([
      [null, 'active'],
      ['Star', 'active'],
    ]);
  });

  it('ends with its subscription, so that no approval brings back what was cancelled', async () => {
    const { subscriptionId, customerId, request } = await asked();
    await setSubscriptionState(database.pool, { id: subscriptionId, state: 'cancelled', actor: 'customer' });
    await expect(approve(request.id)).rejects.toEqual(refusal('request_closed'));
    expect(await planOf(customerId)).toEqual([[null, 'cancelled']]);
  });

  it('is approved only on the terms that the customer agreed to', async () => {
    const { customerId, request } = await asked();
    await applyCatalogue(database.pool, sold('599.00'), { actor: 'test' });
    await expect(approve(request.id)).rejects.toEqual(refusal('plan_changed'));
    expect(await planOf(customerId)).toEqual([[null, 'active']]);
    await expect(decline(request.id)).resolves.toMatchObject({ state: 'declined' });
  });

  it('is refused for a plan that needs none, and another customer’s is unknown', async () => {
    const { request } = await asked();
    const { customerId: other } = await newKey(database.pool);
    await expect(ask(other, 'api-gst')).rejects.toEqual(refusal('plan_needs_no_approval'));
    const theirs = withdrawPlanRequest(database.pool, { id: request.id, customerId: other, actor: 'customer' });
    await expect(theirs).rejects.toEqual(refusal('request_unknown'));
    await expect(approve('x')).rejects.toEqual(refusal('request_unknown'));
  });

  it('is mailed to the customer once it is answered', async () => {
    const { request } = await asked();
    const due = async (): Promise<string[]> => {
      const subjects: string[] = [];
      for (;;) {
        const item = await claim(database.pool, { kind: 'plan_answer', leaseMs: 300_000 });
        if (!item) return subjects;
        subjects.push(item.subject);
      }
    };
    expect(await due()).not.toContain(request.id);
    await approve(request.id);
    expect(await due()).toEqual([request.id]);
    await approve(request.id);
    expect(await due()).toEqual([]);
  });
});

const LIMITS = { daily: 10, monthly: 100 };

async function subscribe(pool: Pool, email: string, products: string[]): Promise<{ customerId: string; subscriptions: string[] }> {
  const customer = await pool.query<{ id: string }>('INSERT INTO customer (email) VALUES ($1) RETURNING id', [email]);
  const customerId = customer.rows[0]?.id ?? '';
  const subscriptions: string[] = [];
  for (const product of products) {
    const text = 'INSERT INTO subscription (customer_id, product_id) VALUES ($1, $2) RETURNING id';
    const { rows } = await pool.query<{ id: string }>(text, [customerId, product]);
    subscriptions.push(rows[0]?.id ?? '');
  }
  return { customerId, subscriptions };
}

describe('readUsage', () => {
  it("lists a customer's charged, refunded and used units by day and product, without those that no request used", async () => {
    const { pool } = database;
    const storeClock = new StoreClock();
    const counter = postgresNode({ pool, storeClock });
    const { customerId, subscriptions } = await subscribe(pool, 'a@example.com', ['api-ip', 'api-gst']);
    const [ip = '', gst = ''] = subscriptions;
    const stranger = await subscribe(pool, 'b@example.com', ['api-ip']);
    const spend = (subscriptionId: string) => counter.spend({ subscriptionId, limits: LIMITS });

    storeClock.set('2026-11-20T12:00:00+05:30');
    await counter.spend({ subscriptionId: gst, limits: LIMITS, units: 9 });
    const unused = {
      subscriptionId: gst,
      day: '2026-11-20',
      requestId: restIdOf('batch'),
      dailyLimit: LIMITS.daily,
      units: 8,
      isRest: true,
    };
    expect(await counter.refund(unused)).toBe('refunded');
    await Promise.all([spend(ip), spend(ip), spend(counterOf(ip, 'test')), spend(gst), spend(stranger.subscriptions[0] ?? '')]);
    storeClock.set('2026-11-21T12:00:00+05:30');
    await spend(ip);
    await counter.refund({ subscriptionId: ip, day: '2026-11-20', requestId: 'request-1', dailyLimit: LIMITS.daily });

    const [ofGst, ofIp] = [
      { subscriptionId: gst, product: 'api-gst' },
      { subscriptionId: ip, product: 'api-ip' },
    ];
    const period = { fromDay: '2026-11-20', toDay: '2026-11-21' };
    await expect(readUsage(pool, { customerId, ...period })).resolves.toEqual([
      { ...ofGst, mode: 'live', day: '2026-11-20', charged: 2, refunded: 0, refundedRequests: 0, used: 2 },
      { ...ofIp, mode: 'live', day: '2026-11-20', charged: 2, refunded: 1, refundedRequests: 1, used: 1 },
      { ...ofIp, mode: 'test', day: '2026-11-20', charged: 1, refunded: 0, refundedRequests: 0, used: 1 },
      { ...ofIp, mode: 'live', day: '2026-11-21', charged: 1, refunded: 0, refundedRequests: 0, used: 1 },
    ]);
    await expect(readUsage(pool, { subscriptionId: ip, ...period })).resolves.toHaveLength(3);
    const oneDay = { fromDay: '2026-11-21', toDay: '2026-11-21' };
    await expect(readUsage(pool, { subscriptionId: ip, ...oneDay })).resolves.toMatchObject([{ day: '2026-11-21', used: 1 }]);
    await expect(readUsage(pool, { subscriptionId: gst, ...oneDay })).resolves.toEqual([]);
  });

  it('knows the counter of test keys as PostgreSQL does, a counter that no subscription is called by', async () => {
    const ids = Array.from({ length: 200 }, () => randomUUID());
    const counters = ids.map((id) => counterOf(id, 'test'));
    const query =
      'SELECT array_agg(test_counter(id)::text ORDER BY place) AS counters FROM unnest($1::uuid[]) WITH ORDINALITY AS given (id, place)';
    const { rows } = await database.pool.query<{ counters: string[] }>(query, [ids]);
    expect(counters).toEqual(rows[0]?.counters);
    expect(new Set([...ids, ...counters]).size).toBe(400);
    expect(counters.every((id) => /^[0-9a-f]{8}-[0-9a-f]{4}-[89a-f]/.test(id))).toBe(true);
  });

  it('lists the counts of a subscription that is gone without a product', async () => {
    const gone = randomUUID();
    await database.pool.query("INSERT INTO usage (subscription_id, day, spent_redis) VALUES ($1, '2026-11-20', 4)", [gone]);
    const usage = await readUsage(database.pool, { subscriptionId: gone, fromDay: '2026-11-20', toDay: '2026-11-20' });
    expect(usage).toMatchObject([{ subscriptionId: gone, product: null, mode: 'live', used: 4 }]);
  });
});
