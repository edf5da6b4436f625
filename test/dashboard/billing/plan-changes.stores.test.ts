import { Client, Pool } from 'pg';
import { approvePlanRequest } from '../../../services/selling/subscriptions/answer-plan-request';
import { askForPlan } from '../../../services/selling/subscriptions/ask-for-plan';
import { changeSubscription, setSubscriptionState } from '../../../services/selling/subscriptions/change-subscription';
import { type StripeSession, type StripeSubscription } from '../../../services/sandbox/payments/objects';
import { askForPaymentCheck } from '../../../services/selling/billing/payment-checks';
import { signEvent } from '../../../services/sandbox/payments/deliver-events';
import { runsEveryScene } from '../../support/scenes';
import { verdict } from '../support/dashboard';
import { MONTH_MS, PRODUCT, SOLD, sun, useFaultyPayments } from '../support/faulty-payments';
import { makeOperator } from '../support/operator';
import { startOtherNode } from '../support/other-node';
import { PAYMENT_KEYS } from '../support/paying-dashboard';
import { type PayingCustomer } from '../support/paying-people';
import { paymentWork } from '../support/payment-work';
import { takePayment } from '../../../services/dashboard/billing/take-payment';
import { type PaymentPort } from '../../../services/selling/billing/payment-port';

const payments = useFaultyPayments();
const { clock, dashboard, faults, loseEvents, pass, paidCustomer, planOf, productOf, sell } = payments;

const PATH = '/api/payments/sandbox/events';
const headersOf = (body: string, at = clock.now() / 1_000) => ({
  'content-type': 'application/json',
  'stripe-signature': signEvent(body, PAYMENT_KEYS.webhookSecret, Math.floor(at)),
});

type Payer = PayingCustomer & { readonly subscription: StripeSubscription };
const paidOf = async ({ ask }: PayingCustomer) => (await ask('/billing')).json().paid[0];
const preview = async (customer: PayingCustomer, plan: string) =>
  customer.ask(`/paid-plans/${(await paidOf(customer)).id}/preview`, { plan });
const accept = async (customer: PayingCustomer, body: object) =>
  customer.ask(`/paid-plans/${(await paidOf(customer)).id}/plan`, body, 'PUT');
const change = async (customer: PayingCustomer, plan: string) =>
  accept(customer, { preview: (await preview(customer, plan)).json().preview });
/** What was paid for a period, in the order in which it was charged. */
const chargedTo = ({ subscription }: Payer): number[] =>
  Object.values(dashboard.provider.ledger.books.invoices)
    .filter(({ parent }) => parent.subscription_details.subscription === subscription.id)
    .map(({ amount_paid: paid }) => paid);
const renew = async ({ subscription }: Payer) => {
  pass(MONTH_MS);
  dashboard.provider.ledger.renew(subscription, true);
  await dashboard.settled();
};

describe('events that were not heard', () => {
  // The nightly comparison is over before: it keeps what it is told as facts of its own.
  beforeAll(async () => {
    await askForPaymentCheck(dashboard.pool);
    dashboard.poke();
    await dashboard.settled();
  });

  /** Somebody's checkout at the provider, without its page. */
  function sessionFor(customerId: string): StripeSession {
    const metadata = { tollgate_customer: customerId, tollgate_product: PRODUCT, tollgate_plan: 'Star' };
    const wish = { name: 'IP', currency: 'inr', amount: 49_900, trialDays: 0, metadata, takesCodes: false };
    const ids = { id: `cs_${customerId}`, customer: `cus_${customerId}`, client_reference_id: null };
    return { ...ids, object: 'checkout.session', mode: 'subscription', status: 'open', wish } as unknown as StripeSession;
  }

  /** Customers who pay and whose plan renews, none of which the dashboard has heard. @returns the events, of which each is sent twice */
  async function unheardOf(count: number, renewals: number): Promise<{ bodies: string[]; ids: string[] }> {
    const { ledger } = dashboard.provider;
    await dashboard.provider.flush();
    loseEvents();
    const { rows } = await dashboard.pool.query<{ id: string }>(
      "INSERT INTO customer (email) SELECT gen_random_uuid() || '@example.com' FROM generate_series(1, $1) RETURNING id",
      [count],
    );
    for (const { id } of rows) {
      const subscription = ledger.pay(sessionFor(id));
      for (let month = 0; month < renewals; month++) ledger.renew(subscription, month % 3 !== 1 || month === renewals - 1);
    }
    const bodies = ledger.books.waiting.map(({ event }) => JSON.stringify(event));
    ledger.books.waiting = [];
    return { bodies, ids: rows.map(({ id }) => id) };
  }

  async function standing(ids: readonly string[]) {
    const { rows } = await dashboard.pool.query(
      `SELECT count(*)::integer AS plans, count(*) FILTER (WHERE p.status = 'active')::integer AS active,
       (SELECT count(*)::integer FROM payment_fact f WHERE f.paid_subscription = ANY (array_agg(p.reference))) AS facts,
       (SELECT count(*)::integer FROM payment_fact f WHERE f.paid_subscription = ANY (array_agg(p.reference)) AND applied_at IS NULL) AS waiting,
       (SELECT count(*)::integer FROM audit_log WHERE actor = 'payments' AND action LIKE 'subscription.%'
          AND subject_id IN (SELECT id::text FROM subscription WHERE customer_id = ANY ($1))) AS changes
     FROM paid_subscription p WHERE customer_id = ANY ($1) AND entitlement = 'plan'`,
      [ids],
    );
    return rows[0];
  }

  it('of an hour in which the endpoint was down count once each when they come at once, in few queries and small parts', async () => {
    // 3,600 events, of which `npm test` sends a fifth: more than one part all the same.
    const customers = runsEveryScene ? 240 : 48;
    const { bodies, ids } = await unheardOf(customers, 6);
    expect(bodies).toHaveLength(15 * customers);
    const each = jest.spyOn(Client.prototype, 'query');
    const reads = jest.spyOn(Pool.prototype, 'query');
    const answers = await Promise.all(
      bodies.toReversed().map((payload) => dashboard.app.inject({ method: 'POST', url: PATH, payload, headers: headersOf(payload) })),
    );
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([204]));
    await dashboard.acted();
    const queries = each.mock.calls.length;
    const results = (await Promise.all(reads.mock.results.map(({ value }) => value as unknown))) as ({ rows?: unknown[] } | undefined)[];
    const largest = Math.max(...results.map((result) => result?.rows?.length ?? 0));
    each.mockRestore();
    reads.mockRestore();
    // The end of a checkout is no fact of a subscription.
    const facts = bodies.length - customers;
    expect(await standing(ids)).toEqual({ plans: customers, active: customers, facts, waiting: 0, changes: customers });
    // Two to store each; what they come to is worked out for whole subscriptions.
    expect(queries).toBeLessThan(4 * bodies.length);
    expect([largest > 0, largest <= 500]).toEqual([true, true]);
  });

  it('that are delivered to two nodes at the same time count once', async () => {
    const { bodies, ids } = await unheardOf(4, 3);
    const other = startOtherNode({ databaseUrl: dashboard.databaseUrl, ports: { sandbox: dashboard.port }, clock });
    const both = [other.app, dashboard.app];
    const answers = await Promise.all(
      [...bodies, ...bodies.toReversed()].flatMap((payload) =>
        both.map((node) => node.inject({ method: 'POST', url: PATH, payload, headers: headersOf(payload) })),
      ),
    );
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([204]));
    await other.settled();
    await dashboard.settled();
    expect(await standing(ids)).toEqual({ plans: 4, active: 4, facts: bodies.length - 4, waiting: 0, changes: 4 });
    const { rows } = await dashboard.pool.query<{ email: string }>('SELECT email FROM customer WHERE id = ANY ($1)', [ids]);
    const receipts = dashboard.mails.filter(({ to, subject }) => rows.some(({ email }) => email === to) && subject.startsWith('Receipt'));
    // The first payment and two renewals of each; one fails and is passed over by the next.
    expect(receipts).toHaveLength(4 * 3);
    await other.close();
  });
});

describe('a dearer plan', () => {
  it('begins at once for the whole difference, however late in the period, by no clock of the client’s or of ours', async () => {
    for (const [late, ahead] of [
      [0, 3_600_000],
      [29 * 86_400_000, -3_600_000],
      [29 * 86_400_000, 0],
    ] as const) {
      faults.ownMs = 0;
      const customer = await paidCustomer();
      pass(late);
      faults.ownMs = ahead;
      const shown = (await preview(customer, 'Sun')).json();
      expect(shown).toMatchObject({ begins: 'now', beginsAt: null, amount: '500.00', currency: 'INR' });
      const at = Math.floor(Date.now() / 1_000) - 3_600;
      expect((await accept(customer, { preview: shown.preview, at, price: 1, proration_date: at })).statusCode).toBe(204);
      expect([await planOf(customer), chargedTo(customer)]).toEqual(['Sun', [49_900, 50_000]]);
      const switches = dashboard.seen.filter(({ form }) => form['proration_date'] !== undefined);
      expect(switches.at(-1)?.form['proration_date']).toBe(String(customer.subscription.items.data[0].current_period_start));
    }
  });

  it('is charged once for what was shown, which is accepted once and by its customer alone', async () => {
    const [customer, stranger] = [await paidCustomer(), await paidCustomer()];
    const { preview: id } = (await preview(customer, 'Sun')).json();
    expect(verdict(await accept(stranger, { preview: id }))).toBe('409 preview_old');
    const answers = await Promise.all([1, 2, 3].map(() => accept(customer, { preview: id })));
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([204, 409, 409]);
    expect([chargedTo(customer), chargedTo(stranger)]).toEqual([[49_900, 50_000], [49_900]]);
    await dashboard.pool.query("UPDATE plan_preview SET made_at = now() - interval '61 minutes'");
    const old = (await preview(stranger, 'Sun')).json();
    await dashboard.pool.query("UPDATE plan_preview SET made_at = now() - interval '61 minutes' WHERE id = $1", [old.preview]);
    expect(verdict(await accept(stranger, { preview: old.preview }))).toBe('409 preview_old');
  });

  it('is not changed to on other terms than were shown, nor from another plan, nor in another period', async () => {
    const customer = await paidCustomer();
    const { preview: id } = (await preview(customer, 'Sun')).json();
    await sell(
      {},
      SOLD.map((each) => ({ ...each, plans: each.plans.map((plan) => ({ ...plan, daily: plan.daily - 1 })) })),
    );
    expect(verdict(await accept(customer, { preview: id }))).toBe('409 terms_changed');
    await sell();
    const { preview: before } = (await preview(customer, 'Sun')).json();
    await renew(customer);
    expect(verdict(await accept(customer, { preview: before }))).toBe('409 preview_old');
    expect(chargedTo(customer)).toEqual([49_900, 49_900]);
  });

  it('is not to be had while the last payment is owed', async () => {
    const customer = await paidCustomer();
    dashboard.provider.ledger.renew(customer.subscription, false);
    await dashboard.settled();
    expect(verdict(await preview(customer, 'Sun'))).toBe('409 change_refused');
  });

  it('is not had again by what the provider answered before: what was taken back stays so', async () => {
    const customer = await paidCustomer();
    const first = (await preview(customer, 'Sun')).json();
    await accept(customer, { preview: first.preview });
    await change(customer, 'Star');
    await renew(customer);
    expect(await planOf(customer)).toBe('Star');
    expect(verdict(await accept(customer, { preview: first.preview }))).toBe('409 preview_old');
    await change(customer, 'Sun');
    // Each change has a key of its own, whatever plan, price and second it names.
    const keys = dashboard.seen.flatMap(({ idempotencyKey: key = '' }) => (key.startsWith('tollgate-switch') ? [key] : []));
    expect(keys).toHaveLength(new Set(keys).size);
    expect(chargedTo(customer)).toEqual([49_900, 50_000, 49_900, 50_000]);
  });
});

describe('a cheaper plan', () => {
  it('begins with the next period and gives nothing back, so that nobody has a dear plan for the price of a minute', async () => {
    const customer = await paidCustomer();
    await change(customer, 'Sun');
    const shown = (await preview(customer, 'Star')).json();
    const { periodEndsAt } = await paidOf(customer);
    expect(shown).toMatchObject({ begins: 'next_period', beginsAt: periodEndsAt, amount: '0.00' });
    expect((await accept(customer, { preview: shown.preview })).statusCode).toBe(204);
    expect([await planOf(customer), await paidOf(customer)]).toMatchObject([
      'Sun',
      { plan: 'Sun', price: '999.00', next: { plan: 'Star', price: '499.00' } },
    ]);
    await dashboard.settled();
    expect(await planOf(customer)).toBe('Sun');
    await renew(customer);
    expect([await planOf(customer), await paidOf(customer)]).toMatchObject(['Star', { plan: 'Star', price: '499.00', next: null }]);
    expect(chargedTo(customer)).toEqual([49_900, 50_000, 49_900]);
  });

  it('that waits can be taken back, and another one chosen only then', async () => {
    const customer = await paidCustomer();
    await change(customer, 'Sun');
    await change(customer, 'Star');
    expect((await preview(customer, 'Star')).json().code).toBe('plan_current');
    const shown = (await preview(customer, 'Sun')).json();
    expect(shown).toMatchObject({ begins: 'keep', amount: '0.00' });
    expect((await accept(customer, { preview: shown.preview })).statusCode).toBe(204);
    expect(await paidOf(customer)).toMatchObject({ plan: 'Sun', next: null });
    await renew(customer);
    expect([await planOf(customer), chargedTo(customer)]).toEqual(['Sun', [49_900, 50_000, 99_900]]);
  });
});

describe('a plan that is paid in advance', () => {
  let cookie: string;
  beforeAll(async () => ({ cookie } = await makeOperator(dashboard)));
  const give = (customer: PayingCustomer, plan: string | null, payment?: string) =>
    dashboard.ask({
      method: 'PUT',
      path: `/api/operator/customers/${customer.id}/plan`,
      cookie,
      body: { product: PRODUCT, plan, payment },
    });
  const idOf = async (customer: PayingCustomer) => (await productOf(customer)).subscription?.id ?? '';

  it('is not replaced on any road while the provider goes on charging for it, unless somebody says so', async () => {
    const customer = await paidCustomer();
    const id = await idOf(customer);
    const { pool } = dashboard;
    const actor = 'test';
    const refusal = { code: 'plan_paid' };
    for (const plan of ['Sun', null]) {
      expect(verdict(await give(customer, plan))).toBe('409 plan_paid');
      await expect(changeSubscription(pool, { id, plan, actor })).rejects.toMatchObject(refusal);
    }
    await expect(setSubscriptionState(pool, { id, state: 'cancelled', actor })).rejects.toMatchObject(refusal);
    await sell(
      {},
      SOLD.map((each) => ({ ...each, plans: each.plans.map((plan) => (plan.name === 'Sun' ? { ...plan, approval: 'request' } : plan)) })),
    );
    const asked = await askForPlan(pool, { customer: customer.id, product: PRODUCT, plan: 'Sun', consent: [], actor });
    await expect(approvePlanRequest(pool, { id: asked.id, actor })).rejects.toMatchObject(refusal);
    expect([await planOf(customer), (await paidOf(customer)).cancelsAt]).toEqual(['Star', null]);
    expect((await approvePlanRequest(pool, { id: asked.id, actor, paymentGoesOn: true })).state).toBe('approved');
    expect(await planOf(customer)).toBe('Sun');
  });

  it('is replaced by one that the seller gives, and the payment ends now, with its period, or goes on, as the seller says', async () => {
    const [now, later, on] = [await paidCustomer(), await paidCustomer(), await paidCustomer()];
    for (const [customer, payment] of [
      [now, 'ends_now'],
      [later, 'ends_with_period'],
      [on, 'goes_on'],
    ] as const) {
      expect((await give(customer, 'Sun', payment)).statusCode).toBe(204);
    }
    await dashboard.settled();
    expect([now, later, on].map(({ subscription: { status, cancel_at_period_end: ends } }) => [status, ends])).toEqual([
      ['canceled', false],
      ['active', true],
      ['active', false],
    ]);
    await renew(later);
    for (const customer of [now, later, on]) expect(await planOf(customer)).toBe('Sun');
  });
});

describe('checkouts for two plans at once', () => {
  it('lead nobody to a page that the other one has closed already', async () => {
    const { tools, newWish, place, sessionOf } = paymentWork(payments);
    const star = await newWish();
    const { daily, monthly } = sun;
    const other = { ...star, plan: 'Sun', price: 99_900, daily, monthly };
    const { port } = dashboard;
    let second: { url: string } | undefined;
    const slow: PaymentPort = {
      ...port,
      async openCheckout(wish) {
        const page = await port.openCheckout(wish);
        second ??= await takePayment(tools(), other, { ...place, port });
        return page;
      },
    };
    await expect(takePayment(tools(), star, { ...place, port: slow })).rejects.toMatchObject({ code: 'checkout_closed' });
    expect(sessionOf(second?.url ?? '').status).toBe('open');
    // Asking once more leads to a page.
    const again = await takePayment(tools(), star, { ...place, port });
    expect(sessionOf(again.url).status).toBe('open');
  });
});

describe('two events of one second', () => {
  it('are not ordered by their ids: the provider is asked', async () => {
    for (const last of ['cancel', 'keep'] as const) {
      dashboard.hear(true);
      const customer = await paidCustomer();
      dashboard.hear(false);
      const { ledger } = dashboard.provider;
      const { id } = customer.subscription;
      const told = ['cancel', 'keep', 'cancel'].slice(0, last === 'cancel' ? 3 : 2).map((act) => {
        customer.subscription.cancel_at_period_end = act === 'cancel';
        customer.subscription.cancel_at = act === 'cancel' ? customer.subscription.items.data[0].current_period_end : null;
        ledger.changed(customer.subscription);
        return ledger.books.waiting.at(-1)?.event;
      });
      ledger.books.waiting = [];
      const created = told.at(-1)?.created ?? 0;
      for (const [place, event] of told.entries()) {
        const body = JSON.stringify({ ...event, id: `evt_${9 - place}_${id}`, created });
        const answer = await dashboard.app.inject({ method: 'POST', url: PATH, payload: body, headers: headersOf(body, created) });
        expect(answer.statusCode).toBe(204);
      }
      await dashboard.settled();
      expect((await paidOf(customer)).cancelsAt !== null).toBe(last === 'cancel');
    }
  });
});
