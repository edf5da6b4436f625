import { billingTerms, isInvoicing } from '../../../plugins/core/catalogue/billing-terms';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { listInvoices } from '../../../services/selling/billing/invoice-view';
import { closeMonth } from '../../../services/selling/statements/read-statement';
import { billingOf } from '../../../services/dashboard/billing/billing-of';
import { type KnownSource } from '../../../services/dashboard/http/dashboard-deps';
import { PRODUCTS } from '../../support/catalogue';
import { startDashboard, verdict } from '../support/dashboard';
import { PRODUCT, SOLD } from '../support/faulty-payments';
import { makeOperator } from '../support/operator';
import { startPayingDashboard } from '../support/paying-dashboard';
import { type PayingCustomer, payingPeople } from '../support/paying-people';
import { type PaymentStage, startRazorpayStage, startStripeStage } from '../support/payment-stages';
import { makeSellerToken } from '../support/seller-token';
import { openedForTests } from '../../support/opened';

const MONTH = '2026-10';
const seller = {
  seller: { name: 'Acme Data', address: ['12 MG Road'], country: 'IN' },
  invoices: { from: MONTH },
};

/** How a provider of the catalogue takes a plan with a price: at once, and then by whom it is charged; or by a checkout. */
interface Provider {
  /** `billing` of the catalogue; undefined where it has none. */
  readonly billing: Parameters<typeof billingTerms.parse>[0];
  readonly isPaidFirst: boolean;
  /** Invoices of our own for a month on the plan. */
  readonly invoices: number;
}
const PROVIDERS: readonly (readonly [string, Provider])[] = [
  ['none', { billing: { provider: 'none', ...seller }, isPaidFirst: false, invoices: 0 }],
  ['invoice', { billing: { provider: 'invoice', ...seller }, isPaidFirst: false, invoices: 1 }],
  ['sandbox', { billing: undefined, isPaidFirst: true, invoices: 0 }],
  ['stripe', { billing: { provider: 'stripe' }, isPaidFirst: true, invoices: 0 }],
  ['razorpay', { billing: { provider: 'razorpay' }, isPaidFirst: true, invoices: 0 }],
];

/** What the service behind the product says of itself. */
let source: KnownSource | null = null;
const opened = openedForTests();
const stages: Readonly<Record<string, PaymentStage>> = { stripe: opened.use(startStripeStage), razorpay: opened.use(startRazorpayStage) };
/** With the keys of every payment provider, and one with none. */
const dashboard = opened.use(() =>
  startPayingDashboard({
    also: Object.fromEntries(Object.entries(stages).map(([name, { port }]) => [name, port])),
    liveSources: { find: (product) => (product === PRODUCT ? source : null), revision: () => JSON.stringify(source) },
  }),
);
const keyless = opened.use(() => startDashboard());

const { newCustomer, paidCustomer, productOf, planOf } = payingPeople(dashboard, PRODUCT);

/** Pays for a checkout at a provider, which then tells the dashboard so. */
async function pay(name: string, checkoutId: string): Promise<void> {
  const { rows } = await dashboard.pool.query<{ session: string }>('SELECT session FROM checkout WHERE id = $1', [checkoutId]);
  const session = rows[0]?.session ?? '';
  const stage = stages[name];
  if (stage) {
    stage.pay(session);
    for (const payload of stage.events()) {
      const headers = { 'content-type': 'application/json', ...stage.sign(payload) };
      const answer = await dashboard.app.inject({ method: 'POST', url: `/api/payments/${name}/events`, payload, headers });
      expect(answer.statusCode).toBe(204);
    }
  } else {
    const found = dashboard.provider.ledger.books.sessions[session];
    if (!found) throw new Error('the provider knows no such page');
    dashboard.provider.ledger.pay(found);
  }
  await dashboard.settled();
}

/** A month on the plan is over: how many invoices of our own are issued for it. */
async function invoicesOf({ id }: PayingCustomer, catalogue: ReturnType<typeof createCatalogue>): Promise<number> {
  await dashboard.pool.query("UPDATE subscription_term SET since = '2026-09-01' WHERE customer_id = $1", [id]);
  await closeMonth(dashboard.pool, { customers: [id], month: MONTH, timeZone: 'UTC', now: Date.parse('2026-11-03T12:00:00Z') / 1_000 });
  const onFailure = (_of: object, error: unknown): never => {
    throw new Error('not invoiced', { cause: error });
  };
  const today = '2026-11-03';
  await billingOf(dashboard.db, catalogue, 'UTC').issueInvoices({ today, onFailure });
  return (await listInvoices(dashboard.db, { customerId: id, today, limit: 10 })).invoices.length;
}

/** Requests that need a payment provider. */
const PAYMENT_REQUESTS = [
  ['/checkouts', { product: PRODUCT, plan: 'Star' }],
  ['/billing/portal', {}],
] as const;

describe.each(PROVIDERS)('billing by %s', (name, { billing, isPaidFirst, invoices }) => {
  const terms = billing === undefined ? undefined : billingTerms.parse(billing);
  const catalogue = createCatalogue(PRODUCTS, terms && { billing: terms });
  beforeAll(async () => {
    await applyCatalogue(dashboard.pool, catalogue, { actor: 'test' });
    await applyCatalogue(keyless.pool, catalogue, { actor: 'test' });
  });

  it('says who bills, and of each plan with a price whether it begins when it is paid', async () => {
    const customer = await newCustomer();
    expect((await customer.ask('/billing')).json()).toMatchObject({ provider: name, paid: [], owed: [], hasPortal: false });
    const star = (await productOf(customer)).plans.find((each) => each.name === 'Star');
    expect(star).toMatchObject({ isPaidFirst });
    expect(terms !== undefined && isInvoicing(terms)).toBe(!isPaidFirst);
  });

  it('gives a plan with a price by one way only, and has it charged by one only', async () => {
    const customer = await newCustomer();
    const chosen = await customer.ask('/subscriptions', { product: PRODUCT, plan: 'Star' });
    const paying = await customer.ask('/checkouts', { product: PRODUCT, plan: 'Star' });
    if (isPaidFirst) {
      expect([chosen.statusCode, chosen.json().code, await planOf(customer)]).toEqual([409, 'payment_needed', undefined]);
      expect(paying.statusCode).toBe(200);
      await pay(name, paying.json().id);
    } else {
      expect(chosen.statusCode).toBeLessThan(300);
      expect(verdict(paying)).toBe('409 payment_off');
    }
    expect(await planOf(customer)).toBe('Star');
    expect((await customer.ask('/billing')).json().paid).toHaveLength(isPaidFirst ? 1 : 0);
    expect(await invoicesOf(customer, catalogue)).toBe(invoices);
    const { rows } = await dashboard.pool.query('SELECT provider FROM paid_subscription WHERE customer_id = $1', [customer.id]);
    expect(rows).toEqual(isPaidFirst ? [{ provider: name }] : []);
  });

  it('takes no payment and no event where there are no keys of a provider', async () => {
    const cookie = await keyless.signIn();
    const post = (path: string, body: object) => keyless.ask({ method: 'POST', path: `/api${path}`, cookie, body });
    for (const [path, body] of PAYMENT_REQUESTS) {
      expect(verdict(await post(path, body))).toBe('409 payment_off');
    }
    for (const provider of ['none', 'invoice', 'sandbox', 'stripe', 'razorpay']) {
      expect((await post(`/payments/${provider}/events`, {})).statusCode).toBe(404);
    }
    // A plan that has to be paid first is not given for nothing while the keys are missing.
    const chosen = await post('/subscriptions', { product: PRODUCT, plan: 'Star' });
    if (billing !== undefined && isPaidFirst) expect(verdict(chosen)).toBe('409 payment_needed');
    else expect(chosen.statusCode).toBeLessThan(300);
  });
});

const since = '2026-11-22T10:30:00.000Z';
const NOTHING: KnownSource = { isThere: true, since, routes: [{ path: '/ip', state: 'about', only: '' }] };
const TEXT = 'IP lookup: Live keys open nothing today: there is only an index. The price is charged all the same.';

async function sell(provider?: 'none' | 'razorpay', change: { readonly approval?: 'request' } = {}): Promise<void> {
  const products = SOLD.map((each) =>
    each.id === PRODUCT ? { ...each, plans: each.plans.map((plan) => ({ ...plan, ...change })) } : each,
  );
  const billing = provider && billingTerms.parse({ provider, ...(provider === 'none' && seller) });
  await applyCatalogue(dashboard.pool, createCatalogue(products, billing && { billing }), { actor: 'test' });
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
  beforeEach(async () => {
    source = NOTHING;
    await sell();
  });

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
