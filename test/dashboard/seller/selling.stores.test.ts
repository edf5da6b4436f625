import { readFileSync } from 'node:fs';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { parseCatalogue } from '../../../plugins/core/catalogue/parse-catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { endLimits } from '../../../services/selling/billing/limit-terms';
import { watchOutages } from '../../../services/selling/outages/watch-outages';
import { addUpProducts } from '../../../services/selling/operators/product-figures';
import { windowsAt } from '../../../plugins/core/access/quota';
import { compareFile } from '../../../services/dashboard/seller/console/compare-file';
import { CATALOGUE } from '../../support/catalogue';
import { openedForTests } from '../../support/opened';
import { consoleCalls, openConsole, OPERATOR } from '../support/console';
import { type TestDashboard } from '../support/dashboard';
import { type Belongings, makeBelongings } from '../support/endpoint-samples';

const ACTOR = `operator:${OPERATOR}`;

let dashboard: TestDashboard;
let cookie: string;
let own: Belongings;
let customerId: string;

const opened = openedForTests();
beforeAll(async () => void ({ dashboard, cookie, own, customerId } = await openConsole(opened)));

const { get, send, lastLines } = consoleCalls(() => ({ dashboard, cookie }));

describe('limits with an end', () => {
  it('go by themselves when it has come, and not before', async () => {
    const limitsOf = async () => {
      const { subscriptions } = (await get(`/customers/${customerId}`)).json();
      return subscriptions.map(({ daily, hasOwnLimits }: { daily: { limit: number }; hasOwnLimits: boolean }) => [
        daily.limit,
        hasOwnLimits,
      ]);
    };
    const [usual] = await limitsOf();
    const body = { daily: 7, monthly: 70, reason: 'a trial', endsAt: new Date(Date.now() + 86_400_000).toISOString() };
    expect((await send('PUT', `/subscriptions/${own.subscription.id}/limits`, body)).statusCode).toBe(204);
    expect(await limitsOf()).toEqual([[7, true]]);
    expect((await get(`/customers/${customerId}`)).json().limitTerms).toEqual([
      { subscriptionId: own.subscription.id, reason: 'a trial', setBy: OPERATOR, endsAt: body.endsAt },
    ]);
    await endLimits(dashboard.pool);
    expect(await limitsOf()).toEqual([[7, true]]);
    await dashboard.pool.query("UPDATE subscription_limit_term SET ends_at = now() - interval '1 second' WHERE subscription_id = $1", [
      own.subscription.id,
    ]);
    expect(await endLimits(dashboard.pool)).toBe(1);
    expect(await limitsOf()).toEqual([usual]);
    expect(await lastLines(1)).toEqual([
      {
        actor: 'dashboard',
        action: 'subscription.change',
        details: expect.objectContaining({ before: { daily: 7, monthly: 70, rate: null, price: null } }),
      },
    ]);
  });
});

describe('a rate of its own', () => {
  const [limited, none] = [{ limit: 600, windowSeconds: 60, burst: 5 }, null];
  const body = { daily: null, monthly: null, reason: 'a partner', endsAt: null };
  const put = async (rate: unknown) => {
    const given = rate === undefined ? body : { ...body, rate };
    return (await send('PUT', `/subscriptions/${own.subscription.id}/limits`, given)).statusCode;
  };
  const seen = async () => (await get(`/customers/${customerId}`)).json().subscriptions[0];

  it('is given, stays where it is left out, and is taken away', async () => {
    expect(await put(limited)).toBe(204);
    expect(await seen()).toMatchObject({ rate: limited, hasOwnLimits: true, ownLimits: { daily: null, monthly: null, rate: limited } });
    expect(await put(undefined)).toBe(204);
    expect(await seen()).toMatchObject({ rate: limited });
    expect(await put(none)).toBe(204);
    expect(await seen()).toMatchObject({ rate: null, hasOwnLimits: false });
  });
});

describe('a price of its own', () => {
  let id: string;
  let their: Belongings;
  let theirId: string;
  beforeAll(async () => {
    their = await makeBelongings(dashboard, 'priced@example.com');
    theirId = (await dashboard.ask({ path: '/api/session', cookie: their.cookie })).json().customerId;
    await send('PUT', `/customers/${theirId}/plan`, { product: 'api-seo', plan: null });
    id = (await seen()).id;
  });
  const IN_A_DAY = new Date(Date.now() + 86_400_000).toISOString();
  const price = (amount: string | null) =>
    send('PUT', `/subscriptions/${id}/limits`, { daily: null, monthly: null, price: amount, reason: 'a partner', endsAt: IN_A_DAY });
  const seen = async () => {
    const { products } = (await dashboard.ask({ path: '/api/products', cookie: their.cookie })).json();
    const { subscription, plans } = products.find((each: { id: string }) => each.id === 'api-seo');
    return { ...subscription, offered: plans.find(({ name }: { name: string }) => name === subscription.plan) };
  };
  const charged = async () => {
    const { rows } = await dashboard.pool.query<{ price: string }>(
      'SELECT price::text FROM subscription_term WHERE subscription_id = $1 AND until IS NULL',
      [id],
    );
    return rows.map((row) => row.price);
  };

  it('needs a plan that is not paid in advance, and the decimals of its currency', async () => {
    expect((await price('5.00')).json()).toMatchObject({ code: 'plan_needed' });
    expect((await send('PUT', `/customers/${theirId}/plan`, { product: 'api-seo', plan: 'Star' })).statusCode).toBe(204);
    expect((await price('5.001')).json()).toMatchObject({ code: 'price_malformed' });
    expect((await price('-5')).statusCode).toBe(400);
    await dashboard.pool.query("UPDATE paid_subscription SET product_id = 'api-pincode' WHERE customer_id = $1", [theirId]);
    await send('PUT', `/customers/${theirId}/plan`, { product: 'api-pincode', plan: 'Star', payment: 'goes_on' });
    const { subscriptions } = (await get(`/customers/${theirId}`)).json();
    const paid = subscriptions.find(({ product }: { product: string }) => product === 'api-pincode');
    const wanted = { daily: null, monthly: null, price: '5.00', reason: 'a partner', endsAt: null };
    expect((await send('PUT', `/subscriptions/${paid.id}/limits`, wanted)).json()).toMatchObject({ code: 'plan_paid' });
  });

  it('is the price of the term that statements charge, which the customer reads with its end, and stands in the audit log', async () => {
    expect((await price('123.45')).statusCode).toBe(204);
    expect(await seen()).toMatchObject({ ownPrice: { price: '123.45', currency: 'INR' }, ownUntil: IN_A_DAY, hasOwnLimits: false });
    expect(await charged()).toEqual(['123.45']);
    expect(await lastLines(1)).toMatchObject([
      {
        actor: ACTOR,
        action: 'subscription.limits',
        details: { before: { price: null }, after: { price: '123.45' }, reason: 'a partner' },
      },
    ]);
    const { entries } = (await dashboard.ask({ path: '/api/audit', cookie: their.cookie })).json();
    expect(entries[0]).toMatchObject({ action: 'subscription.limits', details: { reason: 'a partner' } });
  });

  it('stays where limits are set without it, and gives way to the plan’s at its end', async () => {
    const limits = { daily: 7, monthly: null, reason: 'a partner', endsAt: IN_A_DAY };
    expect((await send('PUT', `/subscriptions/${id}/limits`, limits)).statusCode).toBe(204);
    expect(await seen()).toMatchObject({ ownPrice: { price: '123.45' }, hasOwnLimits: true });
    await dashboard.pool.query("UPDATE subscription_limit_term SET ends_at = now() - interval '1 second' WHERE subscription_id = $1", [id]);
    expect(await endLimits(dashboard.pool)).toBe(1);
    const after = await seen();
    expect(after).toMatchObject({ ownPrice: null, ownUntil: null, hasOwnLimits: false });
    expect(await charged()).toEqual([after.offered.price]);
  });

  it('ends with the plan that it was given for', async () => {
    expect((await price('1.00')).statusCode).toBe(204);
    for (const plan of [null, 'Star']) await send('PUT', `/customers/${theirId}/plan`, { product: 'api-seo', plan });
    expect(await seen()).toMatchObject({ ownPrice: null, ownUntil: null });
    expect((await get(`/customers/${theirId}`)).json().limitTerms).toEqual([]);
  });
});

describe('the catalogue’s file', () => {
  it('is compared with what is applied, and its mistakes are told with their lines', () => {
    const applied = createCatalogue(CATALOGUE.products.slice(1).map((each) => ({ ...each, title: `Old ${each.title}` })));
    const { file, mistakes, changes } = compareFile('kong/catalogue.yml', applied);
    const [first, second] = CATALOGUE.products;
    expect([file, mistakes]).toEqual(['kong/catalogue.yml', []]);
    expect(changes).toContainEqual({ action: 'add', subject: first?.id, details: {} });
    expect(changes).toContainEqual({
      action: 'change',
      subject: second?.id,
      details: { before: { title: `Old ${second?.title}` }, after: { title: second?.title } },
    });
    expect(compareFile('kong/kong.yml', applied).mistakes[0]).toMatch(/^kong\/kong\.yml:\d+:\d+ /);
    expect(compareFile('no/such/file.yml', applied)).toEqual({ file: null, mistakes: [], changes: [] });
  });
});

describe('products', () => {
  it('tell use, what was given back and the list price of their subscriptions', async () => {
    const { day } = windowsAt(Date.now() / 1000, 'Asia/Kolkata');
    await dashboard.pool.query(
      'INSERT INTO usage (subscription_id, day, spent_postgres, refunded, refunded_exempt, refunded_unused) VALUES ($1, $2, 139, 109, 90, 9) ON CONFLICT (subscription_id, day) DO UPDATE SET spent_postgres = 139, refunded = 109, refunded_exempt = 90, refunded_unused = 9',
      [own.subscription.id, day],
    );
    await dashboard.pool.query("UPDATE subscription SET plan_name = 'Star' WHERE id = $1", [own.subscription.id]);
    await addUpProducts(dashboard.pool, day);
    await addUpProducts(dashboard.pool, day);
    const { rows } = await dashboard.pool.query<{ price: string }>(
      "SELECT price::text FROM plan WHERE product_id = 'api-ip' AND name = 'Star'",
    );
    const { figures } = (await get('/products')).json();
    const star = figures.find(({ product, plan }: { product: string; plan: string }) => product === 'api-ip' && plan === 'Star');
    expect(star).toMatchObject({
      // Without the 90 that were exempt and 9 that no request used: no failures, and never meant to be paid.
      charged: 40,
      refunded: 10,
      subscriptions: 1,
      revenue: rows[0]?.price,
      currency: 'INR',
      mostCustomersADay: 1,
    });
  });

  it('tell how many answers failed, which a product that is down makes more of, and what nobody told', async () => {
    const { day } = windowsAt(Date.now() / 1000, 'Asia/Kolkata');
    await dashboard.pool.query(
      `INSERT INTO customer_day (customer_id, day, product_id, admitted, succeeded, rejected, failed, abandoned, took)
       VALUES ($1, $2::date, 'api-seo', 60, 40, 0, 10, 1, '{50}'), ($1, $2::date - 5, 'api-seo', 40, 0, 0, 40, 0, '{0,40}'),
         ($1, $2::date - 5, 'api-gst', 7, NULL, NULL, NULL, NULL, NULL)`,
      [customerId, day],
    );
    await watchOutages(dashboard.pool, { timeZone: 'Asia/Kolkata' });
    await addUpProducts(dashboard.pool, day);
    const { answered } = (await get('/products')).json();
    expect(answered).toContainEqual({
      product: 'api-seo',
      today: { admitted: 60, answers: expect.objectContaining({ succeeded: 40, failed: 10, abandoned: 1 }) },
      period: { admitted: 100, answers: expect.objectContaining({ succeeded: 40, failed: 50 }) },
    });
    expect(answered).toContainEqual({ product: 'api-gst', today: { admitted: 0, answers: null }, period: { admitted: 7, answers: null } });
  });
});

describe('the catalogue', () => {
  it('tells the line of each product, and follows what moves without a change of any', async () => {
    const text = readFileSync('kong/catalogue.yml', 'utf8');
    await applyCatalogue(dashboard.pool, CATALOGUE, { actor: 'test' });
    const placesOf = async (): Promise<unknown[]> =>
      (await get('/catalogue')).json().products.map(({ id, source }: { id: string; source: string }) => [id, source]);
    const lineOf = (id: string): number => text.split('\n').findIndex((line) => line.trim() === `- id: ${id}`) + 1;
    const applyMoved = async (down: number): Promise<void> => {
      const { catalogue } = parseCatalogue('\n'.repeat(down) + text, 'kong/catalogue.yml');
      if (!catalogue) throw new Error('the catalogue cannot be read');
      expect(await applyCatalogue(dashboard.pool, catalogue, { actor: 'test' })).toEqual([]);
    };
    for (const down of [0, 7]) {
      await applyMoved(down);
      const places = await placesOf();
      expect(places).toContainEqual(['api-ip', `kong/catalogue.yml:${lineOf('api-ip') + down}`]);
      expect(places).toContainEqual(['api-pan', `kong/catalogue.yml:${lineOf('api-pan') + down}`]);
    }
  });

  it('tells what was applied to it, when and by whom', async () => {
    const [first] = CATALOGUE.products;
    if (!first) throw new Error('the catalogue is empty');
    const changed = CATALOGUE.products.map((each) => (each === first ? { ...each, title: 'Another title' } : each));
    await applyCatalogue(dashboard.pool, createCatalogue(changed), { actor: 'cli:asha' });
    const { changes } = (await get('/catalogue')).json();
    expect(changes[0]).toMatchObject({ actor: 'cli:asha', action: 'product.change', subject: first.id });
    expect(JSON.stringify(changes[0].details)).toContain('Another title');
    await applyCatalogue(dashboard.pool, CATALOGUE, { actor: 'test' });
  });
});

describe('giving a plan', () => {
  it('subscribes the customer or changes its plan, also to one that is given on request, and refuses what is not sold', async () => {
    const { id } = (await send('POST', '/customers', { email: 'given@plans.example' })).json();
    await dashboard.pool.query("UPDATE plan SET approval = 'request' WHERE product_id = 'api-pincode'");
    const give = (product: string, plan: string | null) => send('PUT', `/customers/${id}/plan`, { product, plan });
    const plans = async () =>
      (await get(`/customers/${id}`))
        .json()
        .subscriptions.map(({ product, plan }: { product: string; plan: string | null }) => [product, plan]);
    expect((await give('api-pincode', null)).statusCode).toBe(204);
    expect(await plans()).toEqual([['api-pincode', null]]);
    expect((await give('api-pincode', 'Star')).statusCode).toBe(204);
    expect(await plans()).toEqual([['api-pincode', 'Star']]);
    expect((await give('api-pincode', 'No such plan')).json().code).toBe('plan_unknown');
    expect((await give('api-nothing', null)).json().code).toBe('product_unknown');
    // A consent is the customer's to give.
    expect((await give('api-aadhaar', null)).json().code).toBe('consent_required');
    expect((await lastLines(1))[0]).toMatchObject({ actor: ACTOR, action: 'subscription.change' });
  });
});
