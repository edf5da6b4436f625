import { randomUUID } from 'node:crypto';
import { createSubscription } from '../../../../services/selling/subscriptions/subscribe';
import { changeSubscription } from '../../../../services/selling/subscriptions/change-subscription';
import { approvePlanRequest } from '../../../../services/selling/subscriptions/answer-plan-request';
import { useDashboard, verdict } from '../../support/dashboard';
import { type Belongings, makeBelongings } from '../../support/endpoint-samples';
import { createCatalogue } from '../../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../../services/selling/catalogue/apply-catalogue';
import { CATALOGUE, PRODUCTS } from '../../../support/catalogue';

/** 15:30 in India on 14 March. */
const NOW = Date.parse('2026-03-14T10:00:00Z');
const dashboard = useDashboard({ clock: { now: () => NOW, monotonic: () => 0 } });
let email: string;
let own: Belongings;
beforeEach(async () => {
  email = `${randomUUID()}@example.com`;
  own = await makeBelongings(dashboard, email);
  await dashboard.pool.query("UPDATE subscription SET created_at = '2026-01-01'");
});

const ask = (method: 'POST' | 'PUT', path: string, body: unknown) =>
  dashboard.ask({ method, path: `/api/subscriptions${path}`, body, cookie: own.cookie });
const current = async (product = 'api-ip') => {
  const { products } = (await dashboard.ask({ path: '/api/products', cookie: own.cookie })).json();
  return products.find(({ id }: { id: string }) => id === product);
};
const post = (path: string, body: unknown) => dashboard.ask({ method: 'POST', path, body, cookie: own.cookie });
/** Takes the product from the key and gives it again, for which the customer is subscribed. */
async function giveBack(): Promise<Awaited<ReturnType<typeof post>>> {
  const path = `/api/keys/${own.key.id}`;
  const patch = async (products: string[], subscribes = false) => {
    const { version } = (await dashboard.ask({ path, cookie: own.cookie })).json();
    return dashboard.ask({ method: 'PATCH', path, body: { version, products, subscribes }, cookie: own.cookie });
  };
  await patch(['api-glead'], true);
  return patch(['api-glead', 'api-ip'], true);
}
const use = (day: string, units: number) =>
  dashboard.pool.query('INSERT INTO usage (subscription_id, day, spent_postgres) VALUES ($1, $2, $3)', [own.subscription.id, day, units]);

describe('statements', () => {
  const read = async (month: string) => (await dashboard.ask({ path: `/api/statement?month=${month}`, cookie: own.cookie })).json();

  it('tell of each month what was used and what it cost, as a page and as CSV, and nothing of months that are not known', async () => {
    await dashboard.pool.query(
      "UPDATE subscription_term SET since = '2026-02-10T06:00:00Z', plan_name = 'Star', price = 499, currency = 'INR'",
    );
    await use('2026-02-11', 60);
    const months = await dashboard.ask({ path: '/api/statements', cookie: own.cookie });
    expect(months.json()).toEqual({
      months: [
        { month: '2026-03', isClosed: false },
        { month: '2026-02', isClosed: true },
      ],
    });
    expect(await read('2026-02')).toMatchObject({
      statement: { fromDay: '2026-02-10', closedAt: expect.any(String), lines: [{ days: 19, used: 60, amount: '338.61' }] },
    });
    expect(await read('2026-01')).toEqual({ statement: null });
    const csv = await dashboard.ask({ path: '/api/statement.csv?month=2026-02', cookie: own.cookie });
    expect(csv.body.split('\r\n')).toEqual([
      'month,product,plan,subscription,days,charged,refunded,used,included,test,price,surcharge,amount,currency,requests,above_limits,overage',
      `2026-02,api-ip,Star,${own.subscription.id},19,60,0,60,30000,0,499.00,0.00,338.61,INR,0,,`,
      '',
    ]);
    expect(verdict(await dashboard.ask({ path: '/api/statement.csv?month=2026-01', cookie: own.cookie }))).toBe('404 statement_unknown');
    expect((await dashboard.ask({ path: '/api/statement?month=2026-13', cookie: own.cookie })).statusCode).toBe(400);
  });
});

describe('a statement under a payment provider', () => {
  const paySince = async (at: string, { status = 'active', until = null }: { status?: string; until?: string | null } = {}) => {
    const { rows } = await dashboard.pool.query<{ id: string }>(
      `INSERT INTO paid_subscription (provider, reference, customer_id, product_id, plan_name, status, price, currency, made_at, period_end)
       SELECT 'stripe', gen_random_uuid(), customer_id, product_id, 'Star', $3, 49900, 'INR', $2, $4 FROM subscription WHERE id = $1 RETURNING id`,
      [own.subscription.id, at, status, until],
    );
    return rows;
  };
  const onStar = () =>
    dashboard.pool.query("UPDATE subscription_term SET since = '2026-02-01T06:00:00Z', plan_name = 'Star', price = 499, currency = 'INR'");
  const amounts = async () => {
    const { statement } = (await dashboard.ask({ path: '/api/statement?month=2026-02', cookie: own.cookie })).json();
    return statement.lines.map(({ isPaidInAdvance, days, amount }: Record<string, unknown>) => [isPaidInAdvance, days, amount]);
  };

  it.each([
    [
      'from the day on which that began',
      '2026-02-11T06:00:00Z',
      {},
      [
        [false, 10, '178.21'],
        [true, 18, '0.00'],
      ],
    ],
    [
      'to the last day that was paid',
      '2026-01-11T06:00:00Z',
      { status: 'ended', until: '2026-02-11T06:00:00Z' },
      [
        [true, 11, '0.00'],
        [false, 17, '302.96'],
      ],
    ],
    ['not before its first payment', '2026-02-01T06:00:00Z', { status: 'waiting' }, [[false, 28, '499.00']]],
  ] as const)('calls a plan paid in advance %s', async (_, since, paid, lines) => {
    await onStar();
    await paySince(since, paid);
    expect(await amounts()).toEqual(lines);
  });

  it('says what was used, what was paid in advance, and charges no share of the price', async () => {
    const { pool } = dashboard;
    await pool.query("UPDATE subscription_term SET since = '2026-02-10T06:00:00Z', plan_name = 'Star', price = 499, currency = 'INR'");
    await use('2026-02-11', 60);
    const rows = await paySince('2026-02-10T06:00:00Z');
    await pool.query(
      `INSERT INTO payment_charge (provider, invoice, paid_subscription_id, amount, currency, charged_at, paid_at, refunded, refunded_at)
       VALUES ('stripe', 'in_1', $1, 49900, 'INR', '2026-02-10T06:00:00Z', '2026-02-10T06:00:00Z', 9900, '2026-02-12T06:00:00Z')`,
      [rows[0]?.id],
    );
    const { statement } = (await dashboard.ask({ path: '/api/statement?month=2026-02', cookie: own.cookie })).json();
    expect(statement).toMatchObject({
      lines: [{ used: 60, amount: '0.00', surcharge: '0.00', isPaidInAdvance: true }],
      totals: [],
      paid: [{ product: 'api-ip', amount: '499.00', refunded: '99.00', currency: 'INR' }],
    });
    const csv = await dashboard.ask({ path: '/api/statement.csv?month=2026-02', cookie: own.cookie });
    expect(csv.body).toContain(',499.00,0.00,0.00,INR,');
  });
});

describe('changes of a subscription', () => {
  it('are so many within 24 hours, but pausing and cancelling are always possible', async () => {
    const answers = [];
    let { version } = (await current()).subscription;
    const act = async (path: string, body: object = {}) => {
      const answer = await ask(path === '/plan' ? 'PUT' : 'POST', `/${own.subscription.id}${path}`, { version, ...body });
      ({ version = version } = answer.json());
      return answer.statusCode === 200 ? 200 : answer.json().code;
    };
    for (let count = 0; count < 100; count++) answers.push(await act(count % 2 ? '/resume' : '/pause'));
    expect(answers.indexOf('change_limit_reached')).toBe(99);
    expect((await current()).subscription.state).toBe('paused');
    expect(await act('/plan', { plan: 'Star' })).toBe('change_limit_reached');
    expect(await act('/cancel')).toBe(200);
    expect(verdict(await ask('POST', '', { product: 'api-ip', plan: null }))).toBe('409 change_limit_reached');
    await dashboard.pool.query("UPDATE subscription_term SET since = since - interval '1 day', until = until - interval '1 day'");
    expect((await ask('POST', '', { product: 'api-ip', plan: null })).statusCode).toBe(200);
  });
});

/** How a subscription stood before its plan; times are milliseconds. By default it ended an hour ago. */
interface Before {
  readonly daily: number;
  readonly monthly: number;
  readonly since?: number;
  readonly until?: number;
  readonly state?: string;
}

describe('a subscription', () => {
  it('shows what was used today and this month in the quota time zone, and when the day’s limit will be reached', async () => {
    await use('2026-02-28', 5_000);
    await use('2026-03-01', 100);
    await use('2026-03-14', 776);
    await dashboard.pool.query("UPDATE usage SET refunded = 1, refunded_requests = 1 WHERE day = '2026-03-14' AND subscription_id = $1", [
      own.subscription.id,
    ]);
    const { subscription } = await current();
    expect(subscription.refunds).toEqual({ used: 1, limit: 100 });
    // 775 in 15.5 hours is 50 an hour: the other 225 take 4.5 hours, until 20:00 in India.
    expect(subscription.daily).toEqual({
      used: 775,
      limit: 1_000,
      resetsAt: '2026-03-14T18:30:00.000Z',
      exhaustedAt: '2026-03-14T14:30:00.000Z',
    });
    expect(subscription.monthly).toEqual({ used: 875, limit: 30_000, resetsAt: '2026-03-31T18:30:00.000Z', exhaustedAt: null });
  });

  /** Puts the customer on a plan that sells use above its limits. */
  async function sellExtra(): Promise<void> {
    const overage = { per: 10, price: '20.00', cap: { daily: 200, monthly: 2_000 } };
    const extra = { name: 'Extra', daily: 5, monthly: 50, price: '1.00', currency: 'INR', approval: 'automatic', overage } as const;
    const sold = PRODUCTS.map((each) => (each.id === 'api-ip' ? { ...each, plans: [...each.plans, extra] } : each));
    await applyCatalogue(dashboard.pool, createCatalogue(sold), { actor: 'test' });
    await changeSubscription(dashboard.pool, { id: own.subscription.id, plan: 'Extra', actor: 'test' });
  }

  it.each<[string, Before, [number, number]]>([
    ['the best of the plans of that day on the day of a change', { daily: 100, monthly: 900, since: NOW - 86_400_000 }, [100, 900]],
    ['its own where the plan before was paused', { daily: 100, monthly: 900, state: 'paused' }, [5, 50]],
    ['its own on the next day', { daily: 100, monthly: 900, since: NOW - 2 * 86_400_000, until: NOW - 86_400_000 }, [5, 50]],
  ])('says of what is included %s', async (_, before, [daily, monthly]) => {
    await sellExtra();
    const { since = NOW - 7_200_000, until = NOW - 3_600_000, state = 'active', ...limits } = before;
    await dashboard.pool.query(
      `UPDATE subscription_term SET daily = CASE WHEN until IS NULL THEN daily ELSE $2 END, monthly = CASE WHEN until IS NULL THEN monthly ELSE $3 END,
         state = CASE WHEN until IS NULL THEN state ELSE $4 END, since = CASE WHEN until IS NULL THEN $6 ELSE $5 END::timestamptz,
         until = CASE WHEN until IS NOT NULL THEN $6::timestamptz END WHERE subscription_id = $1`,
      [own.subscription.id, limits.daily, limits.monthly, state, new Date(since), new Date(until)],
    );
    expect((await current()).subscription).toMatchObject({
      overage: { daily: 5, monthly: 50 },
      includedNow: { today: { included: daily, above: 0 }, thisMonth: { included: monthly, above: 0 } },
    });
  });

  it('says first when the new limit is below what was used, and changes nothing until that is accepted', async () => {
    const { version } = (await ask('PUT', `/${own.subscription.id}/plan`, { version: own.subscription.version, plan: 'Star' })).json();
    await use('2026-03-14', 2_000);
    const told = await ask('PUT', `/${own.subscription.id}/plan`, { version, plan: null });
    expect([told.statusCode, told.json()]).toEqual([
      409,
      expect.objectContaining({ code: 'limit_below_use', used_daily: 2_000, used_monthly: 2_000, daily: 1_000, monthly: 30_000 }),
    ]);
    expect((await current()).subscription).toMatchObject({ plan: 'Star', version });
    const accepted = await ask('PUT', `/${own.subscription.id}/plan`, { version, plan: null, acceptLowerThanUsed: true });
    expect(accepted.json()).toMatchObject({ plan: null, daily: { used: 2_000, limit: 1_000, exhaustedAt: new Date(NOW).toISOString() } });
  });

  it('is changed and made only on the terms that were agreed to', async () => {
    const old = { daily: 100_000, monthly: 3_000_000, price: '399.00', currency: 'INR' };
    const change = (terms: unknown) =>
      ask('PUT', `/${own.subscription.id}/plan`, { version: own.subscription.version, plan: 'star', terms });
    expect(verdict(await change(old))).toBe('409 terms_changed');
    expect((await current()).subscription.plan).toBeNull();
    expect((await change({ ...old, price: '499.00' })).json().plan).toBe('Star');
    const base = { daily: 999, monthly: 30_000, price: null, currency: null };
    expect(verdict(await ask('POST', '', { product: 'api-glead', plan: null, terms: base }))).toBe('409 terms_changed');
    expect((await ask('POST', '', { product: 'api-glead', plan: null, terms: { ...base, daily: 1_000 } })).statusCode).toBe(200);
  });

  it('takes no plan of a product that is not sold any more', async () => {
    await dashboard.pool.query("UPDATE product SET active = false WHERE id = 'api-ip'");
    try {
      expect(verdict(await ask('PUT', `/${own.subscription.id}/plan`, { version: own.subscription.version, plan: 'Star' }))).toBe(
        '400 product_unknown',
      );
    } finally {
      await dashboard.pool.query("UPDATE product SET active = true WHERE id = 'api-ip'");
    }
  });

  it('is not put on a plan by making a key', async () => {
    const body = { submission: randomUUID(), mode: 'live', products: ['api-glead'], plan: 'Star' };
    await post('/api/keys', body);
    expect((await current('api-glead')).subscription?.plan ?? null).toBeNull();
  });

  it.each([
    ['subscribing', () => ask('POST', '', { product: 'api-ip', plan: null })],
    ['a new key', () => post('/api/keys', { submission: randomUUID(), mode: 'live', products: ['api-ip'] })],
    ['a product for a key', giveBack],
  ])('keeps the limits that an operator set when it is cancelled and comes back by %s', async (_way, comeBack) => {
    const { id } = own.subscription;
    await changeSubscription(dashboard.pool, { id, daily: 7, monthly: 70, actor: 'cli' });
    const changed = (await current()).subscription;
    expect((await ask('POST', `/${id}/cancel`, { version: changed.version })).statusCode).toBe(200);
    expect((await comeBack()).statusCode).toBe(200);
    expect((await current()).subscription).toMatchObject({
      state: 'active',
      hasOwnLimits: true,
      daily: { limit: 7 },
      monthly: { limit: 70 },
    });
  });

  it('cannot be made on, or changed to, a plan that whoever sells it must give', async () => {
    const units = { header: 'X-Units', reserve: 1, most: 100 };
    const given = PRODUCTS.map((product) =>
      product.id === 'api-seo'
        ? { ...product, units, plans: product.plans.map((plan) => ({ ...plan, approval: 'request' as const })) }
        : product,
    );
    await applyCatalogue(dashboard.pool, createCatalogue(given), { actor: 'test' });
    try {
      expect(verdict(await ask('POST', '', { product: 'api-seo', plan: 'star' }))).toBe('409 plan_needs_approval');
      const made = await ask('POST', '', { product: 'api-seo', plan: null });
      expect(made.statusCode).toBe(200);
      const { id, version } = made.json();
      expect(verdict(await ask('PUT', `/${id}/plan`, { version, plan: 'Star' }))).toBe('409 plan_needs_approval');
      const terms = { daily: 10_000, monthly: 300_000, price: '999.00', currency: 'INR' };
      expect(verdict(await post('/api/plan-requests', { product: 'api-seo', plan: 'Star', terms: { ...terms, price: '9.00' } }))).toBe(
        '409 terms_changed',
      );
      await dashboard.pool.query("UPDATE plan_request SET state = 'withdrawn', answered_at = now()");
      const asked = await post('/api/plan-requests', { product: 'api-seo', plan: 'Star', terms });
      expect(asked.json()).toMatchObject({ product: 'api-seo', plan: 'Star', price: '999.00', state: 'open' });
      expect(await current('api-seo')).toMatchObject({ subscription: { plan: null }, request: { id: asked.json().id, state: 'open' } });
      await approvePlanRequest(dashboard.pool, { id: asked.json().id, actor: 'operator' });
      expect(await current('api-seo')).toMatchObject({ subscription: { plan: 'Star' }, request: null });
    } finally {
      await applyCatalogue(dashboard.pool, CATALOGUE, { actor: 'test' });
    }
  });
});

describe('a product that asks for a consent', () => {
  const TEXT = CATALOGUE.find('api-gst')?.consent ?? '';
  // A plan that is paid keeps its product from being subscribed to in other ways.
  beforeEach(() => dashboard.pool.query("UPDATE paid_subscription SET status = 'ended' WHERE product_id = 'api-gst'"));
  const codeOf = ({ statusCode, json }: Awaited<ReturnType<typeof post>>) => (statusCode < 300 ? statusCode : [statusCode, json().code]);
  const subscribe = (body: object) => ask('POST', '', { product: 'api-gst', plan: null, ...body });
  const consents = async () => {
    const { rows } = await dashboard.pool.query(
      `SELECT text, given_by, (SELECT email FROM auth_user WHERE id = user_id) AS address, given_at IS NOT NULL AS "hasTime"
       FROM consent c JOIN customer o ON o.id = c.customer_id WHERE o.email = $1 ORDER BY given_at`,
      [email],
    );
    return rows;
  };
  const audit = async () => {
    const text =
      "SELECT actor, details FROM audit_log WHERE action = 'subscription.consent' AND customer_id = (SELECT id FROM customer WHERE email = $1)";
    return (await dashboard.pool.query(text, [email])).rows;
  };

  it('is subscribed to by those who give it, by whatever way; who agreed to which text is kept', async () => {
    expect((await current('api-gst')).consent).toEqual({ text: TEXT, isGiven: false });
    const key = { submission: randomUUID(), mode: 'test', products: ['api-gst'] };
    const patch = {
      method: 'PATCH',
      path: `/api/keys/${own.key.id}`,
      body: { version: own.key.version, products: ['api-gst'], subscribes: true },
      cookie: own.cookie,
    } as const;
    const request = { product: 'api-gst', plan: null, terms: undefined };
    for (const refused of [
      await subscribe({}),
      await subscribe({ consent: false }),
      await post('/api/keys', key),
      await dashboard.ask(patch),
    ]) {
      expect([codeOf(refused), refused.json().detail]).toEqual([[409, 'consent_required'], expect.stringContaining(TEXT)]);
    }
    const headers = { authorization: `Bearer ${own.token.secret}` };
    const byToken = (body: object) => dashboard.ask({ method: 'POST', path: '/api/v1/subscriptions', body, headers });
    expect(codeOf(await byToken(request))).toEqual([409, 'consent_required']);
    expect([(await current('api-gst')).subscription, await consents()]).toEqual([null, []]);
    expect(codeOf(await subscribe({ consent: true }))).toBe(200);
    expect((await current('api-gst')).consent.isGiven).toBe(true);
    expect(await consents()).toEqual([{ text: TEXT, given_by: 'dashboard', address: email, hasTime: true }]);
    expect(await audit()).toEqual([{ actor: `dashboard:${email}`, details: { product: 'api-gst', text: TEXT } }]);
    // Once is enough.
    const { id, version } = (await current('api-gst')).subscription;
    expect(codeOf(await ask('POST', `/${id}/cancel`, { version }))).toBe(200);
    expect(codeOf(await byToken(request))).toBe(200);
    expect(await consents()).toHaveLength(1);
  });

  /** The catalogue's text is another while `work` runs. */
  async function withOtherText(work: () => Promise<void>): Promise<void> {
    const other = PRODUCTS.map((product) => (product.id === 'api-gst' ? { ...product, consent: 'Another text.' } : product));
    await applyCatalogue(dashboard.pool, createCatalogue(other), { actor: 'test' });
    await work().finally(() => applyCatalogue(dashboard.pool, CATALOGUE, { actor: 'test' }));
  }

  it('asks again for a text that changed, with the next key, resumption or plan; access goes on until then', async () => {
    await subscribe({ consent: true });
    const key = () => ({ submission: randomUUID(), mode: 'test', products: ['api-gst'] });
    await withOtherText(async () => {
      const { subscription, consent } = await current('api-gst');
      expect([subscription.state, consent]).toEqual(['active', { text: 'Another text.', isGiven: false }]);
      const { id, version } = subscription;
      expect(codeOf(await post('/api/keys', key()))).toEqual([409, 'consent_required']);
      expect(codeOf(await ask('PUT', `/${id}/plan`, { version, plan: 'Star' }))).toEqual([409, 'consent_required']);
      const paused = await ask('POST', `/${id}/pause`, { version });
      expect(codeOf(await ask('POST', `/${id}/resume`, { version: paused.json().version }))).toEqual([409, 'consent_required']);
      expect((await current('api-gst')).subscription.state).toBe('paused');
      expect(codeOf(await ask('POST', `/${id}/resume`, { version: paused.json().version, consent: ['Another text.'] }))).toBe(200);
      expect((await consents()).map(({ text }) => text)).toEqual([TEXT, 'Another text.']);
      expect(codeOf(await post('/api/keys', key()))).toBeLessThan(300);
    });
  });

  it('takes no consent to a text that it has not any more, by whatever way, and says what it is now', async () => {
    const stale = { consent: [TEXT] };
    await withOtherText(async () => {
      for (const refused of [
        await subscribe(stale),
        await post('/api/keys', { submission: randomUUID(), mode: 'test', products: ['api-gst'], ...stale }),
        await post('/api/try', { product: 'api-gst', method: 'GET', path: '/gst', ...stale }),
      ]) {
        expect([codeOf(refused), refused.json().text]).toEqual([[409, 'consent_changed'], 'Another text.']);
      }
      expect([(await current('api-gst')).subscription, (await current('api-gst')).consent.isGiven]).toEqual([null, false]);
      expect(codeOf(await subscribe({ consent: ['Another text.'] }))).toBe(200);
    });
  });

  it('is given by an operator for a customer, as the operator’s', async () => {
    await createSubscription(dashboard.pool, { customer: email, product: 'api-gst', actor: 'cli' });
    expect(await consents()).toEqual([{ text: TEXT, given_by: 'cli', address: null, hasTime: true }]);
  });
});
