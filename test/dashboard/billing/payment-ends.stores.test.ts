import { suspendSubscription } from '../../../services/selling/suspensions/suspend';
import { DAY_MS, PRODUCT, SOLD, useFaultyPayments } from '../support/faulty-payments';

const { dashboard, pass, sell, look, nextLook, newCustomer, planOf, productOf, checkout, paidCustomer } = useFaultyPayments();

const mailsTo = async ({ ask }: Awaited<ReturnType<typeof paidCustomer>>) => {
  const { email } = (await ask('/session')).json();
  return dashboard()
    .mails.filter(({ to, subject }) => to === email && subject.includes('IP lookup'))
    .map(({ subject }) => subject);
};

describe('the end of a grace', () => {
  it('is told once on the day before, and acted upon at its moment; the plan comes back when the payment is made good', async () => {
    const customer = await paidCustomer();
    dashboard().provider.ledger.renew(customer.subscription, false);
    await dashboard().settled();
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
    dashboard().provider.ledger.recover(customer.subscription);
    await dashboard().settled();
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
    pass((end - dashboard().provider.ledger.second() - 300) * 1_000);
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
    await suspendSubscription(dashboard().db, { id, reason: 'abuse', actor });
    dashboard().provider.ledger.renew(customer.subscription, false);
    await dashboard().settled();
    expect(await suspended()).toMatchObject({ reason: 'abuse' });
    await suspendSubscription(dashboard().db, { id, reason: undefined, actor });
    expect(await suspended()).toMatchObject({ reason: expect.stringContaining('A payment failed') });
    await suspendSubscription(dashboard().db, { id, reason: 'abuse', actor });
    dashboard().provider.ledger.recover(customer.subscription);
    await dashboard().settled();
    expect(await suspended()).toMatchObject({ reason: 'abuse' });
    await suspendSubscription(dashboard().db, { id, reason: undefined, actor });
    expect(await suspended()).toBeUndefined();
    dashboard().provider.ledger.renew(customer.subscription, false);
    await dashboard().settled();
    expect(await suspended()).toMatchObject({ reason: expect.stringContaining('A payment failed') });
    dashboard().provider.ledger.recover(customer.subscription);
    await dashboard().settled();
    expect(await suspended()).toBeUndefined();
  });
});

describe('a plan that is changed while somebody is about to pay for it', () => {
  const without = SOLD.map((each) => (each.id === PRODUCT ? { ...each, plans: each.plans.filter(({ name }) => name !== 'Star') } : each));
  const dearer = SOLD.map((each) => ({ ...each, plans: each.plans.map((plan) => ({ ...plan, price: '999.00' })) }));
  const smaller = SOLD.map((each) => ({ ...each, plans: each.plans.map((plan) => ({ ...plan, daily: plan.daily - 1 })) }));
  const removed = SOLD.filter(({ id }) => id !== PRODUCT);

  it.each([
    ['not sold any more', without],
    ['dearer', dearer],
    ['smaller', smaller],
    ['of a product that is not sold any more', removed],
  ])('and is %s can no longer be paid for; the page says why, and nothing is charged', async (_what, products) => {
    const customer = await newCustomer();
    const { id, session } = await checkout(customer);
    await sell({}, products);
    dashboard().poke();
    await dashboard().settled();
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
    dashboard().provider.ledger.pay(session);
    await dashboard().settled();
    expect((await customer.ask('/billing')).json().paid).toMatchObject([{ plan: 'Star', price: '499.00', isGiven: true }]);
    await sell();
    expect(await planOf(customer)).toBe('Star');
  });
});

describe('an account that is deleted', () => {
  async function leave({ id }: { id: string }): Promise<void> {
    await dashboard().pool.query(
      `INSERT INTO account_deletion (customer_id, user_id, keys, subscriptions) SELECT customer_id, user_id, '{}', '{}' FROM member WHERE customer_id = $1`,
      [id],
    );
    dashboard().poke();
    await dashboard().settled();
  }

  it('with an open invoice, a paid plan and an open payment page is charged no more, and what was paid stays in the books', async () => {
    const customer = await paidCustomer();
    dashboard().provider.ledger.renew(customer.subscription, false);
    const other = await newCustomer();
    const { session } = await checkout(other);
    await leave(customer);
    // It can still be taken back: what is paid goes on, and ends with its period.
    expect(customer.subscription).toMatchObject({ status: 'past_due', cancel_at_period_end: true });
    await dashboard().pool.query('UPDATE checkout SET look_at = now() WHERE customer_id = $1', [other.id]);
    await leave(other);
    expect(session.status).toBe('expired');
    await dashboard().pool.query('UPDATE account_deletion SET erased_at = now() WHERE customer_id = $1', [customer.id]);
    dashboard().poke();
    await dashboard().settled();
    expect(customer.subscription.status).toBe('canceled');
    const { rows } = await dashboard().pool.query(
      `SELECT p.status, array_agg(f.fact ->> 'kind' ORDER BY f.at) FILTER (WHERE f.fact ->> 'kind' <> 'subscription') AS charges
       FROM paid_subscription p JOIN payment_fact f ON f.paid_subscription = p.reference WHERE p.customer_id = $1 GROUP BY p.status`,
      [customer.id],
    );
    expect(rows).toEqual([{ status: 'ended', charges: ['paid', 'failed'] }]);
  });
});
