import { signEvent } from '../../../services/sandbox/payments/deliver-events';
import { eventually } from '../../support/eventually';
import { verdict } from '../support/dashboard';
import { DAY_MS, MONTH_MS, PRODUCT, useFaultyPayments } from '../support/faulty-payments';
import { PAYMENT_KEYS } from '../support/paying-dashboard';

const { dashboard, clock, faults, pass, sell, look, nextLook, loseEvents, ...people } = useFaultyPayments();
const { newCustomer, planOf, checkout, paidCustomer } = people;

describe('a payment provider that is away', () => {
  it('lets nobody begin to pay, and says so; the next press leads to one page, and charges nothing twice', async () => {
    const customer = await newCustomer();
    dashboard().line.setMode('reset');
    expect(verdict(await customer.ask('/checkouts', { product: PRODUCT, plan: 'Star' }))).toBe('503 payment_away');
    dashboard().line.setMode('pass');
    const { session } = await checkout(customer);
    const own = Object.values(dashboard().provider.ledger.books.sessions).filter(
      ({ wish }) => wish.metadata['tollgate_customer'] === customer.id,
    );
    expect(own).toEqual([session]);
  });

  it('gives what was paid meanwhile with the first look afterwards, though all its events were lost', async () => {
    const customer = await newCustomer();
    const { id, session } = await checkout(customer);
    loseEvents();
    dashboard().provider.ledger.pay(session);
    dashboard().line.setMode('reset');
    await look({ checkoutId: id });
    expect(await planOf(customer)).toBeUndefined();
    const { rows } = await dashboard().pool.query("SELECT look_at <= now() + interval '30 seconds' AS soon FROM checkout WHERE id = $1", [
      id,
    ]);
    expect(rows).toEqual([{ soon: true }]);
    dashboard().line.setMode('pass');
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
    dashboard().provider.ledger.renew(customer.subscription, true);
    dashboard().line.setMode('reset');
    await look(customer);
    expect(await planOf(customer)).toBe(meanwhile);
    expect(await nextLook(customer)).toBeLessThanOrEqual(30);
    dashboard().line.setMode('pass');
    await look(customer);
    expect(await planOf(customer)).toBe('Star');
  });

  it('holds up the end of nobody’s grace, however many others are to be looked at first', async () => {
    const customers = [await paidCustomer(), await paidCustomer(), await paidCustomer()];
    const open = await checkout(await newCustomer());
    for (const { subscription } of customers) dashboard().provider.ledger.renew(subscription, false);
    await dashboard().settled();
    dashboard().line.setMode('reset');
    pass(7 * DAY_MS);
    await dashboard().pool.query('UPDATE checkout SET look_at = now() WHERE id = $1', [open.id]);
    const references = customers.map(({ subscription }) => subscription.id);
    await dashboard().pool.query('UPDATE paid_subscription SET look_at = now() WHERE reference = ANY ($1)', [references]);
    dashboard().poke();
    await dashboard().settled();
    expect(await Promise.all(customers.map(planOf))).toEqual([null, null, null]);
  });

  it('and does not answer at all holds up nobody who paid', async () => {
    const customer = await newCustomer();
    const { session } = await checkout(customer);
    const other = await checkout(await newCustomer());
    dashboard().line.setMode('hang');
    await dashboard().pool.query('UPDATE checkout SET look_at = now() WHERE id = $1', [other.id]);
    dashboard().poke();
    dashboard().provider.ledger.pay(session);
    await dashboard().provider.flush();
    await eventually(async () => (await planOf(customer)) === 'Star');
    dashboard().line.setMode('reset');
    await dashboard().settled();
  });

  it('during a change is asked what came of it, though its answer and its events were lost; it is charged once', async () => {
    const customer = await paidCustomer();
    const { paid } = (await customer.ask('/billing')).json();
    const path = `/paid-plans/${paid[0].id}`;
    const { preview } = (await customer.ask(`${path}/preview`, { plan: 'Sun' })).json();
    dashboard().hear(false);
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
    const charges = Object.values(dashboard().provider.ledger.books.invoices).filter(
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
    const subscription = dashboard().provider.ledger.pay(session);
    loseEvents();
    await look({ checkoutId: id });
    expect(await planOf(customer)).toBe('Star');
    const paid = { subscription };
    dashboard().provider.ledger.renew(subscription, false);
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
    dashboard().provider.ledger.tell('customer.subscription.updated', change);
    const [waiting] = dashboard().provider.ledger.books.waiting;
    const payload = JSON.stringify(waiting?.event);
    dashboard().provider.ledger.books.waiting = [];
    const headers = {
      'content-type': 'application/json',
      'stripe-signature': signEvent(payload, PAYMENT_KEYS.webhookSecret, Math.floor(clock.now() / 1_000)),
    };
    expect((await dashboard().app.inject({ method: 'POST', url: '/api/payments/sandbox/events', payload, headers })).statusCode).toBe(204);
    await dashboard().settled();
    expect(await planOf(customer)).toBe('Star');
  });
});
