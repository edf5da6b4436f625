import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { askForPaymentCheck } from '../../../services/selling/billing/payment-checks';
import { billingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { PRODUCTS } from '../../support/catalogue';
import { signEvent } from '../../../services/sandbox/payments/deliver-events';
import { makeOperator } from '../support/operator';
import { PAYMENT_KEYS, startPayingDashboard } from '../support/paying-dashboard';
import { createRazorpayPort } from '../../../services/dashboard/billing/razorpay/razorpay-port';
import { RAZORPAY_KEYS, signForRazorpay, startRazorpayStandIn } from '../../support/razorpay-stand-in';
import { eraseDueAccounts } from '../../../services/selling/members/account-deletion';
import { PASSWORD, verdict } from '../support/dashboard';
import { PRODUCT, SOLD } from '../support/faulty-payments';
import { listCharges } from '../../../services/selling/billing/payment-charges';
import { type PayingCustomer, payingPeople } from '../support/paying-people';
import { openedForTests } from '../../support/opened';

const opened = openedForTests();
const razorpay = opened.use(startRazorpayStandIn);
const dashboard = opened.use(() =>
  startPayingDashboard({ also: { razorpay: createRazorpayPort({ ...RAZORPAY_KEYS, url: razorpay.url }) } }),
);
beforeAll(() => sell());
beforeEach(() => {
  dashboard.hear(true);
});

const { newCustomer, productOf, planOf, checkout, paidCustomer } = payingPeople(dashboard, PRODUCT);
const sell = (products = PRODUCTS, payments?: object) => {
  const billing = payments && billingTerms.parse(payments);
  return applyCatalogue(dashboard.pool, createCatalogue(products, billing && { billing }), { actor: 'test' });
};

describe('a plan with a price', () => {
  it('begins when it is paid, and not before; what there was goes on until then', async () => {
    const customer = await newCustomer();
    await customer.ask('/subscriptions', { product: PRODUCT, plan: null });
    expect((await productOf(customer)).plans.map(({ isPaidFirst }) => isPaidFirst)).toContain(true);
    const { id, session } = await checkout(customer);
    expect((await customer.ask(`/checkouts/${id}`)).json()).toMatchObject({
      state: 'open',
      product: PRODUCT,
      plan: 'Star',
      url: session.url,
    });
    expect(await planOf(customer)).toBeNull();
    dashboard.provider.ledger.pay(session);
    await dashboard.settled();
    expect((await customer.ask(`/checkouts/${id}`)).json()).toMatchObject({ state: 'paid', url: null });
    expect(await planOf(customer)).toBe('Star');
    const { paid, provider, hasPortal } = (await customer.ask('/billing')).json();
    expect([provider, hasPortal, paid]).toMatchObject([
      'sandbox',
      true,
      [{ product: PRODUCT, plan: 'Star', status: 'active', isGiven: true }],
    ]);
  });

  it('cannot be changed to past the payment', async () => {
    const customer = await newCustomer();
    await customer.ask('/subscriptions', { product: PRODUCT, plan: null });
    const { id, version } = (await productOf(customer)).subscription ?? { id: '', version: '' };
    expect(verdict(await customer.ask(`/subscriptions/${id}/plan`, { version, plan: 'Star' }, 'PUT'))).toBe('409 payment_needed');
  });

  it('has one open checkout, which asking again leads back to, also two at once', async () => {
    const customer = await newCustomer();
    const answers = await Promise.all([1, 2, 3].map(() => customer.ask('/checkouts', { product: PRODUCT, plan: 'Star' })));
    const again = await customer.ask('/checkouts', { product: PRODUCT, plan: 'Star' });
    expect(new Set([...answers, again].map((each) => each.json().url)).size).toBe(1);
    const own = Object.values(dashboard.provider.ledger.books.sessions).filter(
      ({ wish }) => wish.metadata['tollgate_customer'] === customer.id,
    );
    expect(own).toHaveLength(1);
  });

  it('is charged at the price that was agreed to, whatever it became meanwhile, and a new wish closes the page of the old price', async () => {
    const customer = await newCustomer();
    const { session } = await checkout(customer);
    const dearer = PRODUCTS.map((each) => ({ ...each, plans: each.plans.map((plan) => ({ ...plan, price: '999.00' })) }));
    await sell(dearer);
    const second = await checkout(customer).finally(() => sell());
    expect([session.status, second.session.wish.amount]).toEqual(['expired', 99_900]);
    dashboard.provider.ledger.pay(second.session);
    await dashboard.settled();
    expect((await customer.ask('/billing')).json().paid).toMatchObject([{ price: '999.00' }]);
  });

  it('is not paid twice: who paid is told so, and not sent to pay again', async () => {
    const customer = await newCustomer();
    const { session } = await checkout(customer);
    dashboard.hear(false);
    dashboard.provider.ledger.pay(session);
    const again = await customer.ask('/checkouts', { product: PRODUCT, plan: 'Star' });
    expect([verdict(again), await planOf(customer)]).toEqual(['409 plan_paid', 'Star']);
    expect(verdict(await customer.ask('/checkouts', { product: PRODUCT, plan: 'Star' }))).toBe('409 plan_paid');
  });

  it('goes on to the end of its period when it is cancelled, and past it when that is taken back', async () => {
    const customer = await paidCustomer();
    const { id, version } = (await productOf(customer)).subscription ?? { id: '', version: '' };
    expect((await customer.ask(`/subscriptions/${id}/cancel`, { version })).json().code).toBe('plan_paid');
    const { paid } = (await customer.ask('/billing')).json();
    const change = (act: string) => customer.ask(`/paid-plans/${paid[0].id}/${act}`, {});
    expect((await change('cancel')).statusCode).toBe(204);
    expect((await customer.ask('/billing')).json().paid[0].cancelsAt).toBe(paid[0].periodEndsAt);
    await change('keep');
    expect((await customer.ask('/billing')).json().paid[0].cancelsAt).toBeNull();
    await change('cancel');
    dashboard.provider.ledger.renew(customer.subscription, true);
    await dashboard.settled();
    expect(await planOf(customer)).toBeNull();
    expect((await customer.ask('/billing')).json().paid).toEqual([]);
  });
});

describe('a change of a paid plan', () => {
  beforeAll(() => sell(SOLD));
  afterAll(() => sell());

  it('costs what was shown, and changes nothing where that is not paid; what was shown counts once, paid or not', async () => {
    const customer = await paidCustomer();
    const { paid } = (await customer.ask('/billing')).json();
    const path = `/paid-plans/${paid[0].id}`;
    const show = async (plan: string) => (await customer.ask(`${path}/preview`, { plan })).json();
    const { amount, currency, preview } = await show('Sun');
    expect([amount, currency]).toEqual(['500.00', 'INR']);
    const accept = (id: string) => customer.ask(`${path}/plan`, { preview: id }, 'PUT');
    dashboard.provider.ledger.declinesNext = true;
    expect([verdict(await accept(preview)), await planOf(customer)]).toEqual(['409 payment_failed', 'Star']);
    expect((await accept(preview)).json().code).toBe('preview_old');
    expect((await accept((await show('Sun')).preview)).statusCode).toBe(204);
    expect(await planOf(customer)).toBe('Sun');
    await dashboard.settled();
    expect(await planOf(customer)).toBe('Sun');
    expect((await customer.ask(`${path}/preview`, { plan: 'Sun' })).json().code).toBe('plan_current');
  });
});

describe('a price of the customer’s own', () => {
  let cookie: string;
  beforeAll(async () => {
    ({ cookie } = await makeOperator(dashboard));
    await sell(SOLD);
  });
  afterAll(() => sell());

  /** The operator gives the plan at a price of its own. */
  async function agree(customer: PayingCustomer): Promise<void> {
    const put = (path: string, body: unknown) => dashboard.ask({ method: 'PUT', path: `/api/operator${path}`, cookie, body });
    expect((await put(`/customers/${customer.id}/plan`, { product: PRODUCT, plan: 'Star' })).statusCode).toBe(204);
    const { id } = (await productOf(customer)).subscription ?? { id: '' };
    const terms = { daily: null, monthly: null, price: '250.00', reason: 'a partner', endsAt: null };
    expect((await put(`/subscriptions/${id}/limits`, terms)).statusCode).toBe(204);
  }
  const ownPrice = async (customer: PayingCustomer) => (await productOf(customer)).subscription?.ownPrice;
  const termsOf = async ({ id }: PayingCustomer) =>
    (await dashboard.ask({ path: `/api/operator/customers/${id}`, cookie })).json().limitTerms;

  it('is paid as agreed: the plan is not charged at the provider, where it would cost the plan’s price', async () => {
    const customer = await newCustomer();
    await agree(customer);
    expect(verdict(await customer.ask('/checkouts', { product: PRODUCT, plan: 'Star' }))).toBe('409 plan_current');
    expect(await ownPrice(customer)).toEqual({ price: '250.00', currency: 'INR' });
  });

  it('ends with another plan that is paid at the provider', async () => {
    const customer = await newCustomer();
    await agree(customer);
    const { session } = await checkout(customer, 'Sun');
    expect(session.wish.amount).toBe(99_900);
    expect(await ownPrice(customer)).not.toBeNull();
    dashboard.provider.ledger.pay(session);
    await dashboard.settled();
    expect([await planOf(customer), await ownPrice(customer), await termsOf(customer)]).toEqual(['Sun', null, []]);
  });

  it('that was agreed to while the customer paid the plan’s price ends, since that is what is charged', async () => {
    const customer = await newCustomer();
    const { session } = await checkout(customer);
    await agree(customer);
    dashboard.provider.ledger.pay(session);
    await dashboard.settled();
    expect([await planOf(customer), await ownPrice(customer), await termsOf(customer)]).toEqual(['Star', null, []]);
    const { rows } = await dashboard.pool.query(
      "SELECT details ->> 'reason' AS reason FROM audit_log WHERE actor = 'payments' AND subject_id = (SELECT id::text FROM subscription WHERE customer_id = $1)",
      [customer.id],
    );
    expect(rows).toEqual([{ reason: 'the plan is paid at the payment provider now' }]);
  });
});

describe('a refund', () => {
  it('is shown to its customer with the charge that it gives back, and to nobody else', async () => {
    const customer = await paidCustomer();
    const paymentsOf = async (of: Pick<typeof customer, 'ask'>) => (await of.ask('/payments')).json().payments;
    expect(await paymentsOf(customer)).toMatchObject([{ refunded: '0.00', refundedAt: null }]);
    dashboard.provider.ledger.refund(customer.subscription);
    await dashboard.settled();
    const [payment, ...others] = await paymentsOf(customer);
    expect(others).toEqual([]);
    expect(payment).toMatchObject({ product: PRODUCT, amount: '499.00', refunded: '499.00', state: 'paid', currency: 'INR' });
    expect(Date.parse(payment.refundedAt)).toBeGreaterThan(Date.parse(payment.paidAt));
    expect(payment.reference).toBe(customer.subscription.latest_invoice);
    expect(await planOf(customer)).toBe('Star');
    expect(await paymentsOf(await newCustomer())).toEqual([]);
  });
});

describe('a customer who was deleted at the provider', () => {
  it('loses what was paid, and can pay anew under a new id there', async () => {
    const customer = await paidCustomer();
    dashboard.provider.ledger.removeCustomer(customer.subscription.customer);
    await dashboard.settled();
    expect(await planOf(customer)).toBeNull();
    const { session } = await checkout(customer);
    expect(session.customer).not.toBe(customer.subscription.customer);
    dashboard.provider.ledger.pay(session);
    await dashboard.settled();
    expect(await planOf(customer)).toBe('Star');
    expect((await customer.ask('/billing/portal', {})).json().url).toContain(session.customer);
  });
});

describe('a plan that is paid at Razorpay', () => {
  beforeAll(() => sell(PRODUCTS, { provider: 'razorpay' }));
  afterAll(() => sell());
  const deliver = async () => {
    for (const payload of razorpay.account.events.splice(0)) {
      const headers = { 'content-type': 'application/json', 'x-razorpay-signature': signForRazorpay(payload) };
      const answer = await dashboard.app.inject({ method: 'POST', url: '/api/payments/razorpay/events', payload, headers });
      expect(answer.statusCode).toBe(204);
    }
    await dashboard.settled();
  };

  it('begins when it is paid, fails, comes back, and is cancelled for good; what Razorpay cannot do is refused', async () => {
    const customer = await newCustomer();
    const { id, url } = (await customer.ask('/checkouts', { product: PRODUCT, plan: 'Star' })).json();
    expect(url).toBe(`http://dashboard.test/billing/checkouts/${id}`);
    const page = (await customer.ask(`/checkouts/${id}`)).json();
    expect(page).toMatchObject({ state: 'open', leadsBack: false });
    const subscription = page.url.split('/').at(-1);
    razorpay.account.pay(subscription, 'upi');
    await deliver();
    const billing = async () => (await customer.ask('/billing')).json();
    const { provider, hasPortal, paid } = await billing();
    expect([provider, hasPortal, paid]).toMatchObject(['razorpay', false, [{ status: 'active', isCancelFinal: true, isGiven: true }]]);
    razorpay.account.renew(subscription, false);
    await deliver();
    expect((await billing()).paid).toMatchObject([{ status: 'failing', isGiven: true }]);
    const { cookie } = await makeOperator(dashboard);
    const [owed] = (await dashboard.ask({ path: `/api/operator/payments?customer=${customer.id}&state=due`, cookie })).json().payments;
    expect(owed.canRetry).toBe(false);
    const body = { provider: 'razorpay', reference: owed.reference };
    expect(verdict(await dashboard.ask({ method: 'POST', path: '/api/operator/payments/retry', cookie, body }))).toBe('409 change_refused');
    razorpay.account.recover(subscription);
    razorpay.account.refund(subscription);
    await deliver();
    // What is made good before anybody was told is told as a receipt alone.
    razorpay.account.renew(subscription, false);
    razorpay.account.recover(subscription);
    await deliver();
    const { email } = (await customer.ask('/session')).json();
    expect(dashboard.mails.filter(({ to, subject }) => to === email && subject.endsWith('failed'))).toHaveLength(1);
    const ask = (act: string, body = {}) => customer.ask(`/paid-plans/${paid[0].id}/${act}`, body);
    expect((await ask('cancel')).statusCode).toBe(204);
    const { cancelsAt, periodEndsAt } = (await billing()).paid[0];
    expect(cancelsAt).toBe(periodEndsAt);
    // Razorpay itself does not say so, and what was said before holds.
    await askForPaymentCheck(dashboard.pool);
    dashboard.poke();
    await dashboard.settled();
    expect((await billing()).paid[0].cancelsAt).toBe(cancelsAt);
    // Nor does the comparison take a charge or refund of which an event told for another one.
    const { rows } = await listCharges(dashboard.pool, { customerId: customer.id, timeZone: 'Asia/Kolkata', limit: 10 });
    expect(rows.map(({ state, amount, refunded }) => [state, amount, refunded])).toEqual([
      ['paid', 49_900, 0],
      ['paid', 49_900, 0],
      ['paid', 49_900, 49_900],
    ]);
    for (const refused of [await ask('keep'), await customer.ask('/billing/portal', {})]) expect(refused.statusCode).toBe(409);
    razorpay.account.renew(subscription, true);
    await deliver();
    expect([await planOf(customer), (await billing()).paid]).toEqual([null, []]);
  });
});

describe('a trial', () => {
  it('begins without a charge, once for a customer and product', async () => {
    await sell(PRODUCTS, { provider: 'stripe', payments: { trial_days: 14, promotion_codes: true } });
    try {
      const customer = await newCustomer();
      const { session } = await checkout(customer);
      expect(session.wish).toMatchObject({ trialDays: 14, takesCodes: true });
      const subscription = dashboard.provider.ledger.pay(session);
      await dashboard.settled();
      expect((await customer.ask('/billing')).json().paid).toMatchObject([{ status: 'trial', isGiven: true }]);
      dashboard.provider.ledger.end(subscription);
      await dashboard.settled();
      expect((await checkout(customer)).session.wish).toMatchObject({ trialDays: 0 });
    } finally {
      await sell();
    }
  });
});

describe('a trial of a mailbox', () => {
  beforeAll(() => sell(PRODUCTS, { provider: 'stripe', payments: { trial_days: 14 } }));
  afterAll(() => sell());
  const PASSED = 'asha.rao@gmail.com';
  const person = async (email: string) => {
    const cookie = await dashboard.signIn(email);
    const ask: PayingCustomer['ask'] = (path, body, method = body === undefined ? 'GET' : 'POST') =>
      dashboard.ask({ method, path: `/api${path}`, body, cookie });
    return { ask, id: (await ask('/session')).json().customerId };
  };
  const trialOf = async (customer: PayingCustomer): Promise<number> => (await checkout(customer)).session.wish.trialDays;

  it('is offered once, under every spelling of its address, at the same time and after the account is erased', async () => {
    const [first, plus, dots] = [await person(PASSED), await person('asharao+1@gmail.com'), await person('a.s.h.a.rao@googlemail.com')];
    const offered = await Promise.all([first, plus, dots].map(trialOf));
    expect(offered.toSorted((a, b) => a - b)).toEqual([0, 0, 14]);
    for (const { ask } of [first, plus, dots]) expect((await ask('/account/delete', { password: PASSWORD })).statusCode).toBe(200);
    await dashboard.pool.query("UPDATE account_deletion SET asked_at = now() - interval '15 days'");
    expect(await eraseDueAccounts(dashboard.pool)).toBe(3);
    expect(await trialOf(await person('asharao@gmail.com'))).toBe(0);
    const { rows } = await dashboard.pool.query('SELECT mailbox FROM trial');
    expect(JSON.stringify(rows)).not.toMatch(/rao|gmail/);
  });

  it('is asked for again by its own account until it began, and each other mailbox has its own', async () => {
    const customer = await person('birk@example.com');
    expect([await trialOf(customer), await trialOf(customer)]).toEqual([14, 14]);
    for (const email of ['asha.rao@example.com', 'asharao@example.com', 'asha.rao@example.org']) {
      expect(await trialOf(await person(email))).toBe(14);
    }
  });
});

describe('an event', () => {
  const send = (body: string, headers: Readonly<Record<string, string>>) =>
    dashboard.app.inject({ method: 'POST', url: '/api/payments/sandbox/events', payload: body, headers });
  const sign = (body: string, at = Date.now() / 1_000) => ({
    'content-type': 'application/json',
    'stripe-signature': signEvent(body, PAYMENT_KEYS.webhookSecret, Math.floor(at)),
  });

  it('counts only with its signature, and for five minutes', async () => {
    const { body } = dashboard.sent.at(-1) ?? { body: '' };
    const now = Date.now() / 1_000;
    for (const headers of [{ 'content-type': 'application/json' }, sign(body, now - 301)])
      expect(verdict(await send(body, headers))).toBe('400 event_refused');
    expect((await send(body, sign(body))).statusCode).toBe(204);
  });
});
