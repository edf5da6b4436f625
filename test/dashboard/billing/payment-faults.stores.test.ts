import { signEvent } from '../../../services/sandbox/payments/deliver-events';
import { eventually } from '../../support/eventually';
import { verdict } from '../support/dashboard';
import { DAY_MS, MONTH_MS, PRODUCT, useFaultyPayments, SOLD } from '../support/faulty-payments';
import { PAYMENT_KEYS } from '../support/paying-dashboard';
import { suspendSubscription } from '../../../services/selling/suspensions/suspend';

const { dashboard, clock, faults, pass, sell, look, nextLook, loseEvents, ...people } = useFaultyPayments();
const { newCustomer, planOf, productOf, checkout, paidCustomer } = people;

describe('a payment provider that is away', () => {
  it('lets nobody begin to pay, and says so; the next press leads to one page, and charges nothing twice', async () => {
    const customer = await newCustomer();
    dashboard.line.setMode('reset');
    expect(verdict(await customer.ask('/checkouts', { product: PRODUCT, plan: 'Star' }))).toBe('503 payment_away');
    dashboard.line.setMode('pass');
    const { session } = await checkout(customer);
    const own = Object.values(dashboard.provider.ledger.books.sessions).filter(
      ({ wish }) => wish.metadata['tollgate_customer'] === customer.id,
    );
    expect(own).toEqual([session]);
  });

  it('gives what was paid meanwhile with the first look afterwards, though all its events were lost', async () => {
    const customer = await newCustomer();
    const { id, session } = await checkout(customer);
    loseEvents();
    dashboard.provider.ledger.pay(session);
    dashboard.line.setMode('reset');
    await look({ checkoutId: id });
    expect(await planOf(customer)).toBeUndefined();
    const { rows } = await dashboard.pool.query("SELECT look_at <= now() + interval '30 seconds' AS soon FROM checkout WHERE id = $1", [
      id,
    ]);
    expect(rows).toEqual([{ soon: true }]);
    dashboard.line.setMode('pass');
    await look({ checkoutId: id });
    expect(await planOf(customer)).toBe('Star');
  });

  it.each([
    [7, 'Star'],
    [0, null],
  ])('during a renewal leaves the plan for %d days of grace, and gives it back when it answers', async (days, meanwhile) => {
    await sell({ grace_days: days });
    const customer = await paidCustomer();
    loseEvents();
    pass(MONTH_MS);
    dashboard.provider.ledger.renew(customer.subscription, true);
    dashboard.line.setMode('reset');
    await look(customer);
    expect(await planOf(customer)).toBe(meanwhile);
    expect(await nextLook(customer)).toBeLessThanOrEqual(30);
    dashboard.line.setMode('pass');
    await look(customer);
    expect(await planOf(customer)).toBe('Star');
  });

  it('holds up the end of nobody’s grace, however many others are to be looked at first', async () => {
    const customers = [await paidCustomer(), await paidCustomer(), await paidCustomer()];
    const open = await checkout(await newCustomer());
    for (const { subscription } of customers) dashboard.provider.ledger.renew(subscription, false);
    await dashboard.settled();
    dashboard.line.setMode('reset');
    pass(7 * DAY_MS);
    await dashboard.pool.query('UPDATE checkout SET look_at = now() WHERE id = $1', [open.id]);
    const references = customers.map(({ subscription }) => subscription.id);
    await dashboard.pool.query('UPDATE paid_subscription SET look_at = now() WHERE reference = ANY ($1)', [references]);
    dashboard.poke();
    await dashboard.settled();
    expect(await Promise.all(customers.map(planOf))).toEqual([null, null, null]);
  });

  it('and does not answer at all holds up nobody who paid', async () => {
    const customer = await newCustomer();
    const { session } = await checkout(customer);
    const other = await checkout(await newCustomer());
    dashboard.line.setMode('hang');
    await dashboard.pool.query('UPDATE checkout SET look_at = now() WHERE id = $1', [other.id]);
    dashboard.poke();
    dashboard.provider.ledger.pay(session);
    await dashboard.provider.flush();
    await eventually(async () => (await planOf(customer)) === 'Star');
    dashboard.line.setMode('reset');
    await dashboard.settled();
  });

  it('and does not answer at all does not hold up an invoice, which is made within 10 seconds', async () => {
    dashboard.line.setMode('hang');
    await expect(dashboard.port.findPayment?.('in_1')).rejects.toMatchObject({ name: 'ProviderAway' });
    dashboard.line.setMode('reset');
  }, 9_000);

  it('during a change is asked what came of it, though its answer and its events were lost; it is charged once', async () => {
    const customer = await paidCustomer();
    const { paid } = (await customer.ask('/billing')).json();
    const path = `/paid-plans/${paid[0].id}`;
    const { preview } = (await customer.ask(`${path}/preview`, { plan: 'Sun' })).json();
    dashboard.hear(false);
    faults.losesAnswers = true;
    // A preview is accepted once, whatever became of it: pressing again asks for nothing.
    for (const told of ['503 payment_away', '409 preview_old']) {
      expect(verdict(await customer.ask(`${path}/plan`, { preview }, 'PUT'))).toBe(told);
    }
    expect(await planOf(customer)).toBe('Star');
    expect(await nextLook(customer)).toBeLessThanOrEqual(30);
    loseEvents();
    await look(customer);
    expect(await planOf(customer)).toBe('Sun');
    const charges = Object.values(dashboard.provider.ledger.books.invoices).filter(
      ({ customer: account, billing_reason: reason }) => account === customer.subscription.customer && reason === 'subscription_update',
    );
    expect(charges).toHaveLength(1);
  });
});

describe('a clock that is a day off', () => {
  it.each([1, -1])('(by %d) gives what is paid, though no event is believed, and ends a grace at its moment', async (days) => {
    faults.ownMs = days * DAY_MS;
    const customer = await newCustomer();
    const { id, session } = await checkout(customer);
    const subscription = dashboard.provider.ledger.pay(session);
    loseEvents();
    await look({ checkoutId: id });
    expect(await planOf(customer)).toBe('Star');
    const paid = { subscription };
    dashboard.provider.ledger.renew(subscription, false);
    loseEvents();
    await look(paid);
    // Neither a day early nor a day late: by the provider's own time.
    pass(7 * DAY_MS - 60_000);
    await look(paid);
    expect(await planOf(customer)).toBe('Star');
    expect(await nextLook(paid)).toBeLessThanOrEqual(60);
    pass(60_000);
    await look(paid);
    expect(await planOf(customer)).toBeNull();
  });

  it('takes no plan away when an event is heard, whichever way it is off', async () => {
    await sell({ grace_days: 0 });
    const customer = await paidCustomer();
    faults.ownMs = MONTH_MS;
    const change = { ...customer.subscription, cancel_at_period_end: false };
    dashboard.provider.ledger.tell('customer.subscription.updated', change);
    const [waiting] = dashboard.provider.ledger.books.waiting;
    const payload = JSON.stringify(waiting?.event);
    dashboard.provider.ledger.books.waiting = [];
    const headers = {
      'content-type': 'application/json',
      'stripe-signature': signEvent(payload, PAYMENT_KEYS.webhookSecret, Math.floor(clock.now() / 1_000)),
    };
    expect((await dashboard.app.inject({ method: 'POST', url: '/api/payments/sandbox/events', payload, headers })).statusCode).toBe(204);
    await dashboard.settled();
    expect(await planOf(customer)).toBe('Star');
  });
});

const mailsTo = async ({ ask }: Awaited<ReturnType<typeof paidCustomer>>) => {
  const { email } = (await ask('/session')).json();
  return dashboard.mails.filter(({ to, subject }) => to === email && subject.includes('IP lookup')).map(({ subject }) => subject);
};

describe('the end of a grace', () => {
  it('is told once on the day before, and acted upon at its moment; the plan comes back when the payment is made good', async () => {
    const customer = await paidCustomer();
    dashboard.provider.ledger.renew(customer.subscription, false);
    await dashboard.settled();
    expect(await nextLook(customer)).toBeLessThanOrEqual(6 * 3_600);
    for (const days of [5, 1.1, 0.5]) {
      pass(days * DAY_MS);
      await look(customer);
    }
    pass(0.4 * DAY_MS - 60_000);
    await look(customer);
    expect((await customer.ask('/billing')).json().paid).toMatchObject([
      { status: 'failing', graceEndsAt: expect.any(String), isGiven: true },
    ]);
    expect(await planOf(customer)).toBe('Star');
    expect(await nextLook(customer)).toBeLessThanOrEqual(61);
    pass(61_000);
    await look(customer);
    expect(await planOf(customer)).toBeNull();
    expect((await customer.ask('/billing')).json().paid).toMatchObject([{ status: 'failing', isGiven: false }]);
    dashboard.provider.ledger.recover(customer.subscription);
    await dashboard.settled();
    expect(await planOf(customer)).toBe('Star');
    expect((await mailsTo(customer)).map((subject) => subject.replace(/\d{4}-\d\d-\d\d/, 'DAY'))).toEqual([
      'Receipt for IP lookup: Star',
      'Payment for IP lookup: Star failed',
      'IP lookup: Star ends on DAY',
      'IP lookup: Star has ended',
      'Receipt for IP lookup: Star',
    ]);
  });

  it('comes with the period where there is none', async () => {
    await sell({ grace_days: 0 });
    const customer = await paidCustomer();
    const { current_period_end: end } = customer.subscription.items.data[0];
    pass((end - dashboard.provider.ledger.second() - 300) * 1_000);
    await look(customer);
    const wait = await nextLook(customer);
    expect([wait > 200, wait <= 301]).toEqual([true, true]);
    pass(301_000);
    await look(customer);
    expect(await planOf(customer)).toBeNull();
  });

  it('suspends beside an operator, whose own suspension no payment lifts, nor does an operator’s word lift what is not paid', async () => {
    await sell({ after_grace: 'suspend', grace_days: 0 });
    const actor = 'operator:op@example.com';
    const customer = await paidCustomer();
    const { id } = (await productOf(customer)).subscription ?? { id: '' };
    const suspended = async () => (await productOf(customer)).subscription?.suspended as { reason: string } | undefined;
    await suspendSubscription(dashboard.db, { id, reason: 'abuse', actor });
    dashboard.provider.ledger.renew(customer.subscription, false);
    await dashboard.settled();
    expect(await suspended()).toMatchObject({ reason: 'abuse' });
    await suspendSubscription(dashboard.db, { id, reason: undefined, actor });
    expect(await suspended()).toMatchObject({ reason: expect.stringContaining('A payment failed') });
    await suspendSubscription(dashboard.db, { id, reason: 'abuse', actor });
    dashboard.provider.ledger.recover(customer.subscription);
    await dashboard.settled();
    expect(await suspended()).toMatchObject({ reason: 'abuse' });
    await suspendSubscription(dashboard.db, { id, reason: undefined, actor });
    expect(await suspended()).toBeUndefined();
    dashboard.provider.ledger.renew(customer.subscription, false);
    await dashboard.settled();
    expect(await suspended()).toMatchObject({ reason: expect.stringContaining('A payment failed') });
    dashboard.provider.ledger.recover(customer.subscription);
    await dashboard.settled();
    expect(await suspended()).toBeUndefined();
  });
});

describe('a plan that is changed while somebody is about to pay for it', () => {
  const without = SOLD.map((each) => (each.id === PRODUCT ? { ...each, plans: each.plans.filter(({ name }) => name !== 'Star') } : each));
  const dearer = SOLD.map((each) => ({ ...each, plans: each.plans.map((plan) => ({ ...plan, price: '999.00' })) }));
  const removed = SOLD.filter(({ id }) => id !== PRODUCT);

  it.each([
    ['dearer', dearer],
    ['of a product that is not sold any more', removed],
  ])('and is %s can no longer be paid for; the page says why, and nothing is charged', async (_what, products) => {
    const customer = await newCustomer();
    const { id, session } = await checkout(customer);
    await sell({}, products);
    dashboard.poke();
    await dashboard.settled();
    expect(session.status).toBe('expired');
    expect((await customer.ask(`/checkouts/${id}`)).json()).toMatchObject({ state: 'closed', isSold: false, url: null });
  });

  it.each([
    ['not sold any more', without],
    ['dearer', dearer],
    ['of a product that is not sold any more', removed],
  ])('and is %s is given at the price that was agreed to, to who paid just before', async (_what, products) => {
    const customer = await newCustomer();
    const { session } = await checkout(customer);
    await sell({}, products);
    dashboard.provider.ledger.pay(session);
    await dashboard.settled();
    expect((await customer.ask('/billing')).json().paid).toMatchObject([{ plan: 'Star', price: '499.00', isGiven: true }]);
    await sell();
    expect(await planOf(customer)).toBe('Star');
  });
});

describe('an account that is deleted', () => {
  async function leave({ id }: { id: string }): Promise<void> {
    await dashboard.pool.query(
      `INSERT INTO account_deletion (customer_id, user_id, keys, subscriptions) SELECT customer_id, user_id, '{}', '{}' FROM member WHERE customer_id = $1`,
      [id],
    );
    dashboard.poke();
    await dashboard.settled();
  }

  it('with an open invoice, a paid plan and an open payment page is charged no more, and what was paid stays in the books', async () => {
    const customer = await paidCustomer();
    dashboard.provider.ledger.renew(customer.subscription, false);
    const other = await newCustomer();
    const { session } = await checkout(other);
    await leave(customer);
    // It can still be taken back: what is paid goes on, and ends with its period.
    expect(customer.subscription).toMatchObject({ status: 'past_due', cancel_at_period_end: true });
    await dashboard.pool.query('UPDATE checkout SET look_at = now() WHERE customer_id = $1', [other.id]);
    await leave(other);
    expect(session.status).toBe('expired');
    await dashboard.pool.query('UPDATE account_deletion SET erased_at = now() WHERE customer_id = $1', [customer.id]);
    dashboard.poke();
    await dashboard.settled();
    expect(customer.subscription.status).toBe('canceled');
    const { rows } = await dashboard.pool.query(
      `SELECT p.status, array_agg(f.fact ->> 'kind' ORDER BY f.at) FILTER (WHERE f.fact ->> 'kind' <> 'subscription') AS charges
     FROM paid_subscription p JOIN payment_fact f ON f.paid_subscription = p.reference WHERE p.customer_id = $1 GROUP BY p.status`,
      [customer.id],
    );
    expect(rows).toEqual([{ status: 'ended', charges: ['paid', 'failed'] }]);
  });
});
