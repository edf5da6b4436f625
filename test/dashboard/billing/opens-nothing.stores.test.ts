import { billingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { createRazorpayPort } from '../../../services/dashboard/billing/razorpay/razorpay-port';
import { type KnownSource } from '../../../services/dashboard/http/dashboard-deps';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { RAZORPAY_KEYS, startRazorpayStandIn } from '../../support/razorpay-stand-in';
import { verdict } from '../support/dashboard';
import { PRODUCT, SOLD } from '../support/faulty-payments';
import { makeOperator } from '../support/operator';
import { type PayingDashboard, startPayingDashboard } from '../support/paying-dashboard';
import { type PayingCustomer, payingPeople } from '../support/paying-people';
import { makeSellerToken } from '../support/seller-token';

const since = '2026-11-22T10:30:00.000Z';
const NOTHING: KnownSource = { isThere: true, since, routes: [{ path: '/ip', state: 'about', only: '' }] };
const TEXT = 'IP lookup: Live keys open nothing today: there is only an index. The price is charged all the same.';

const SELLER = { seller: { name: 'Tollgate', address: ['1 Road'], country: 'IN' }, invoices: { from: '2026-01' } };

let dashboard: PayingDashboard;
let razorpay: Awaited<ReturnType<typeof startRazorpayStandIn>>;
let source: KnownSource | null = null;
beforeAll(async () => {
  razorpay = await startRazorpayStandIn();
  dashboard = await startPayingDashboard({
    also: { razorpay: createRazorpayPort({ ...RAZORPAY_KEYS, url: razorpay.url }) },
    liveSources: { find: (product) => (product === PRODUCT ? source : null), revision: () => JSON.stringify(source) },
  });
});
afterAll(async () => {
  await dashboard?.close();
  await razorpay?.close();
});
beforeEach(async () => {
  source = NOTHING;
  await sell();
});

const { newCustomer, paidCustomer, planOf } = payingPeople(() => dashboard, PRODUCT);

async function sell(provider?: 'none' | 'razorpay', change: { readonly approval?: 'request' } = {}): Promise<void> {
  const products = SOLD.map((each) =>
    each.id === PRODUCT ? { ...each, plans: each.plans.map((plan) => ({ ...plan, ...change })) } : each,
  );
  await applyCatalogue(
    dashboard.pool,
    createCatalogue(products, provider && { billing: billingTerms.parse({ provider, ...(provider === 'none' && SELLER) }) }),
    {
      actor: 'test',
    },
  );
}

/** What is kept of it: the text, who agreed to it, and the audit log's lines. */
async function kept({ id }: PayingCustomer): Promise<unknown[]> {
  const { rows } = await dashboard.pool.query<{ text: string; given_by: string; audited: number }>(
    `SELECT text, given_by, (SELECT count(*)::int FROM audit_log a
       WHERE a.customer_id = c.customer_id AND action = 'subscription.understood' AND details ->> 'text' = c.text) AS audited
     FROM consent c WHERE customer_id = $1 AND product_id = $2`,
    [id, PRODUCT],
  );
  return rows.map(({ text, given_by: by, audited }) => [text, by, audited]);
}

/** An act is refused with the text, keeps nothing, and does its work with the tick alone. */
async function needsTick(customer: PayingCustomer, act: (tick: object) => ReturnType<PayingCustomer['ask']>, by = 'dashboard') {
  for (const tick of [{}, { understood: false }]) {
    const refused = await act(tick);
    expect([verdict(refused), refused.json().text]).toEqual(['409 opens_nothing', TEXT]);
  }
  expect(await kept(customer)).toEqual([]);
  const taken = await act({ understood: true });
  expect(taken.statusCode).toBeLessThan(300);
  expect(await kept(customer)).toEqual([[TEXT, by, 1]]);
  return taken;
}

describe('a plan that opens nothing', () => {
  it.each([undefined, 'razorpay'] as const)(
    'is paid (provider: %s) only by who says to have understood it, which is kept',
    async (provider) => {
      await sell(provider);
      const customer = await newCustomer();
      await needsTick(customer, (tick) => customer.ask('/checkouts', { product: PRODUCT, plan: 'star', ...tick }));
    },
  );

  it('takes the place of another paid plan only with the same word, and the preview outlives the refusal', async () => {
    source = null;
    const customer = await paidCustomer();
    source = NOTHING;
    const { id } = (await customer.ask('/billing')).json().paid[0];
    const { preview } = (await customer.ask(`/paid-plans/${id}/preview`, { plan: 'Sun' })).json();
    await needsTick(customer, (tick) => customer.ask(`/paid-plans/${id}/plan`, { preview, ...tick }, 'PUT'));
    expect(await planOf(customer)).toBe('Sun');
  });

  it('is subscribed to, changed to and asked for only with the same word, where a month is invoiced', async () => {
    await sell('none');
    const [subscriber, changer, asker] = [await newCustomer(), await newCustomer(), await newCustomer()];
    await needsTick(subscriber, (tick) => subscriber.ask('/subscriptions', { product: PRODUCT, plan: 'Star', ...tick }));
    const { id, version } = (await changer.ask('/subscriptions', { product: PRODUCT, plan: null })).json();
    await needsTick(changer, (tick) => changer.ask(`/subscriptions/${id}/plan`, { version, plan: 'Star', ...tick }, 'PUT'));
    await sell('none', { approval: 'request' });
    const { daily, monthly, price, currency } = SOLD.find((each) => each.id === PRODUCT)?.plans[0] ?? {};
    const wish = { product: PRODUCT, plan: 'Star', terms: { daily, monthly, price, currency } };
    await needsTick(asker, (tick) => asker.ask('/plan-requests', { ...wish, ...tick }));
  });

  it('is given through the seller’s API only with the same word', async () => {
    const customer = await newCustomer();
    const { secret } = await makeSellerToken(dashboard, (await makeOperator(dashboard)).cookie);
    const path = `/api/seller/customers/${customer.id}/subscriptions`;
    const headers = { authorization: `Bearer ${secret}` };
    const give = (tick: object) => dashboard.ask({ method: 'POST', path, headers, body: { product: PRODUCT, plan: 'Star', ...tick } });
    await needsTick(customer, give, 'operator');
  });

  it('asks nothing of who takes what is free, and nothing once it opens something', async () => {
    const customer = await newCustomer();
    expect((await customer.ask('/subscriptions', { product: PRODUCT, plan: null })).statusCode).toBe(200);
    for (const other of [null, { ...NOTHING, routes: [{ path: '/ip', state: 'open', only: '' }] }] satisfies (KnownSource | null)[]) {
      source = other;
      expect((await customer.ask('/checkouts', { product: PRODUCT, plan: 'Star' })).statusCode).toBe(200);
    }
    expect(await kept(customer)).toEqual([]);
  });
});
