import fastify from 'fastify';
import { Client, Pool } from 'pg';
import { billingTerms } from '../../../plugins/core/selling/billing-terms';
import { createCatalogue, type Overage } from '../../../plugins/core/selling/catalogue';
import { type Clock } from '../../../plugins/core/ports';
import { findAccount, requireCheckout } from '../../../plugins/stores/postgres/billing/checkouts';
import { askForPaymentCheck, readPaymentCheck } from '../../../plugins/stores/postgres/billing/payment-checks';
import { listUnchargedOverage } from '../../../plugins/stores/postgres/billing/overage-charges';
import { closeMonth } from '../../../plugins/stores/postgres/statements/read-statement';
import { reportOverage } from '../../../services/dashboard/api/billing/report-overage';
import { applyCatalogue } from '../../../plugins/stores/postgres/catalogue/apply-catalogue';
import { watchCatalogue } from '../../../plugins/stores/postgres/catalogue/watch-catalogue';
import { listPaid } from '../../../plugins/stores/postgres/billing/paid-subscriptions';
import { suspendSubscription } from '../../../plugins/stores/postgres/suspensions/suspend';
import { servePaymentEvents } from '../../../services/dashboard/api/billing/payment-events';
import { paymentHandlers } from '../../../services/dashboard/api/billing/payment-handlers';
import { type PaymentPort, ProviderAway } from '../../../services/dashboard/api/billing/payment-port';
import { startPayments } from '../../../services/dashboard/api/billing/start-payments';
import { settleCheckout, takePayment } from '../../../services/dashboard/api/billing/take-payment';
import { type DashboardDeps } from '../../../services/dashboard/api/http/dashboard-deps';
import { createLog } from '../../../services/kit/log';
import { signEvent } from '../../../services/sandbox/payments/deliver-events';
import { type Session, type Subscription } from '../../../services/sandbox/payments/objects';
import { PRODUCTS } from '../../support/catalogue';
import { eventually } from '../../support/eventually';
import { mortalProcess } from '../support/mortal-process';
import { PAYMENT_KEYS, type PayingDashboard, startPayingDashboard } from '../support/paying-dashboard';
import { payingPeople } from '../support/paying-people';

const PRODUCT = 'api-ip';
const DAY_MS = 86_400_000;
const MONTH_MS = 31 * DAY_MS;

/** How far the provider's clock is ahead of the machine's, and ours of the provider's. */
const ahead = { providerMs: 0, ownMs: 0 };
const clock: Clock = { now: () => Date.now() + ahead.providerMs + ahead.ownMs, monotonic: () => performance.now() };
/** Time passes, at the provider and here. */
function pass(ms: number): void {
  ahead.providerMs = dashboard.provider.ledger.second() * 1_000 + ms - Date.now();
}
/** Answers of the provider to changes do not arrive. */
let losesAnswers = false;

let dashboard: PayingDashboard;
const { newCustomer, planOf, productOf, checkout, paidCustomer } = payingPeople(() => dashboard, PRODUCT);
type Paid = Awaited<ReturnType<typeof paidCustomer>>;

const ip = PRODUCTS.find(({ id }) => id === PRODUCT);
const sun = { name: 'Sun', daily: 200_000, monthly: 6_000_000, price: '999.00', currency: 'INR', approval: 'automatic' } as const;
const SOLD = PRODUCTS.map((each) => (each === ip ? { ...each, plans: [...each.plans, sun] } : each));

/** Has the catalogue sell these products, with these terms of payment. */
async function sell(payments: { grace_days?: number; after_grace?: 'base' | 'suspend' } = {}, products = SOLD): Promise<void> {
  const billing = billingTerms.parse({ provider: 'stripe', payments });
  await applyCatalogue(dashboard.pool, createCatalogue(products, { billing }), { actor: 'test' });
}

beforeAll(async () => {
  dashboard = await startPayingDashboard({
    clock,
    providerNow: () => Date.now() + ahead.providerMs,
    wrap: (port) => ({
      ...port,
      async changeSubscription(...given) {
        const answer = await port.changeSubscription(...given);
        if (losesAnswers) throw new ProviderAway('the answer was lost');
        return answer;
      },
    }),
  });
});
afterAll(() => dashboard.close());
beforeEach(async () => {
  // Time does not go back.
  pass(0);
  ahead.ownMs = 0;
  losesAnswers = false;
  dashboard.line.setMode('pass');
  dashboard.hear(true);
  await sell();
});

/** The work looks at this paid plan, or checkout, whatever it is due. */
async function look(of: { subscription: Subscription } | { checkoutId: string }): Promise<void> {
  const [table, id] =
    'subscription' in of ? ['paid_subscription WHERE reference', of.subscription.id] : ['checkout WHERE id::text', of.checkoutId];
  await dashboard.pool.query(`UPDATE ${table.replace(' WHERE', ' SET look_at = now() WHERE')} = $1`, [id]);
  dashboard.poke();
  await dashboard.settled();
}

/** In how many seconds the provider is asked next. */
async function nextLook({ subscription }: Pick<Paid, 'subscription'>): Promise<number> {
  const { rows } = await dashboard.pool.query<{ seconds: number }>(
    'SELECT extract(epoch FROM look_at - now())::float8 AS seconds FROM paid_subscription WHERE reference = $1',
    [subscription.id],
  );
  return rows[0]?.seconds ?? NaN;
}

/** Events that nobody takes are lost for good. */
function loseEvents(): void {
  dashboard.hear(false);
  dashboard.provider.ledger.books.waiting = [];
}

const mailsTo = async ({ ask }: Paid) => {
  const { email } = (await ask('/session')).json();
  return dashboard.mails.filter(({ to, subject }) => to === email && subject.includes('IP lookup')).map(({ subject }) => subject);
};

describe('a payment provider that is away', () => {
  it('lets nobody begin to pay, and says so; the next press leads to one page, and charges nothing twice', async () => {
    const customer = await newCustomer();
    dashboard.line.setMode('reset');
    const refused = await customer.ask('/checkouts', { product: PRODUCT, plan: 'Star' });
    expect([refused.statusCode, refused.json().code]).toEqual([503, 'payment_away']);
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

  it('during a change is asked what came of it, though its answer and its events were lost; it is charged once', async () => {
    const customer = await paidCustomer();
    const { paid } = (await customer.ask('/billing')).json();
    const path = `/paid-plans/${paid[0].id}`;
    const { at } = (await customer.ask(`${path}/preview`, { plan: 'Sun' })).json();
    dashboard.hear(false);
    losesAnswers = true;
    for (let press = 0; press < 2; press++) {
      const answer = await customer.ask(`${path}/plan`, { plan: 'Sun', at }, 'PUT');
      expect([answer.statusCode, answer.json().code]).toEqual([503, 'payment_away']);
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

describe('a process that is killed', () => {
  const tools = () => ({ db: dashboard.db, clock, catalogue: watchCatalogue(dashboard.db) });
  const deaths = ['before', 'after'] as const;

  async function newWish() {
    const { rows } = await dashboard.pool.query<{ id: string }>(
      "INSERT INTO customer (email) VALUES (gen_random_uuid() || '@example.com') RETURNING id",
    );
    const { daily, monthly } = ip?.plans.find(({ name }) => name === 'Star') ?? { daily: 0, monthly: 0 };
    const star = { plan: 'Star', price: 49_900, currency: 'INR', daily, monthly, overage: null as Overage | null };
    return { ...star, customerId: rows[0]?.id ?? '', product: PRODUCT, provider: 'sandbox', actor: 'test' };
  }
  const place = { url: 'http://dashboard.test', email: 'x@example.com' };
  type Wish = Awaited<ReturnType<typeof newWish>>;

  /** Runs work in processes that die at each of its steps in turn, until one lives to its end. */
  async function killEverywhere<Prepared>(
    prepare: () => Promise<Prepared>,
    work: (mortal: ReturnType<typeof mortalProcess>, wish: Prepared) => Promise<unknown>,
  ) {
    const wishes: Prepared[] = [];
    for (const when of deaths) {
      for (let step = 1, hasLived = false; !hasLived; step++) {
        const wish = await prepare();
        const mortal = mortalProcess({ pool: dashboard.db, port: dashboard.port }, { step, when });
        await work(mortal, wish).then(
          () => (hasLived = true),
          (error: unknown) => {
            if (!mortal.isDead()) throw error;
          },
        );
        wishes.push(wish);
      }
    }
    return wishes;
  }

  /** As it must be for each who paid once: the plan, one page, one subscription, one receipt. */
  async function expectPaidOnce(wishes: readonly Wish[]): Promise<void> {
    const ids = wishes.map(({ customerId }) => customerId);
    const { rows } = await dashboard.pool.query(
      `SELECT count(*)::integer AS customers, count(*) FILTER (WHERE s.plan_name = 'Star' AND s.state = 'active')::integer AS plans,
         (SELECT count(*)::integer FROM paid_subscription WHERE customer_id = ANY ($1) AND entitlement = 'plan') AS paid,
         (SELECT count(*)::integer FROM checkout WHERE customer_id = ANY ($1) AND state = 'paid') AS checkouts,
         (SELECT count(*)::integer FROM checkout WHERE customer_id = ANY ($1) AND state = 'open') AS open
       FROM subscription s WHERE s.customer_id = ANY ($1) AND s.product_id = $2`,
      [ids, PRODUCT],
    );
    const count = ids.length;
    expect(rows).toEqual([{ customers: count, plans: count, paid: count, checkouts: count, open: 0 }]);
    const { sessions, subscriptions } = dashboard.provider.ledger.books;
    const owners = (of: readonly { metadata: Record<string, string> }[]) =>
      of.flatMap(({ metadata }) => (ids.includes(metadata['tollgate_customer'] ?? '') ? [metadata['tollgate_customer']] : []));
    const own = owners(Object.values(sessions).map(({ wish }) => wish));
    expect([own.length, new Set(own).size]).toEqual([count, count]);
    expect(owners(Object.values(subscriptions))).toHaveLength(count);
  }

  const sessionOf = (url: string): Session => {
    const found = Object.values(dashboard.provider.ledger.books.sessions).find((each) => each.url === url);
    if (!found) throw new Error('the provider knows no such page');
    return found;
  };

  async function lookAtAll(wishes: readonly Wish[]): Promise<void> {
    const ids = wishes.map(({ customerId }) => customerId);
    await dashboard.pool.query('UPDATE checkout SET look_at = now() WHERE customer_id = ANY ($1) AND look_at IS NOT NULL', [ids]);
    dashboard.poke();
    await dashboard.settled();
  }

  it('between any two steps of a checkout leaves one page, which the next press leads to, and which gives the plan once', async () => {
    dashboard.hear(false);
    const wishes = await killEverywhere(newWish, ({ db, port }, wish) => takePayment({ ...tools(), db }, wish, { ...place, port }));
    // Two ways to die at each of at least eight steps.
    expect(wishes.length).toBeGreaterThan(16);
    for (const wish of wishes) {
      const { url } = await takePayment(tools(), wish, { ...place, port: dashboard.port });
      dashboard.provider.ledger.pay(sessionOf(url));
    }
    loseEvents();
    await lookAtAll(wishes);
    await expectPaidOnce(wishes);
  });

  it('between any two steps of taking over what was paid leaves the rest to the next process', async () => {
    dashboard.hear(false);
    const checkouts = new Map<Wish, string>();
    const prepare = async (): Promise<Wish> => {
      const wish = await newWish();
      const { id, url } = await takePayment(tools(), wish, { ...place, port: dashboard.port });
      dashboard.provider.ledger.pay(sessionOf(url));
      checkouts.set(wish, id);
      return wish;
    };
    const wishes = await killEverywhere(prepare, async ({ db, port }, wish) => {
      const found = await requireCheckout(dashboard.db, { id: checkouts.get(wish) ?? '', customerId: wish.customerId });
      return settleCheckout({ ...tools(), db }, found, await port.settleCheckout(found.session ?? '', 'look'));
    });
    expect(wishes.length).toBeGreaterThan(20);
    loseEvents();
    await lookAtAll(wishes);
    await expectPaidOnce(wishes);
  });

  interface Payer {
    readonly customerId: string;
    readonly paidId: string;
    readonly subscription: Subscription;
  }

  async function newPayer(): Promise<Payer> {
    const wish = await newWish();
    const { id, url } = await takePayment(tools(), wish, { ...place, port: dashboard.port });
    const subscription = dashboard.provider.ledger.pay(sessionOf(url));
    const found = await requireCheckout(dashboard.db, { id, customerId: wish.customerId });
    await settleCheckout(tools(), found, await dashboard.port.settleCheckout(found.session ?? '', 'look'));
    const [paid] = await listPaid(dashboard.db, wish.customerId);
    return { customerId: wish.customerId, paidId: paid?.id ?? '', subscription };
  }

  const PRESSES = {
    cancel: { isDone: ({ subscription }: Payer) => subscription.cancel_at_period_end, handler: 'POST /paid-plans/:id/cancel' },
    switch: {
      isDone: ({ subscription }: Payer) => subscription.items.data[0].price.unit_amount === 99_900,
      handler: 'PUT /paid-plans/:id/plan',
    },
  } as const;

  /** Whose plan or end is here as it is at the provider, and who is asked about within half a minute. */
  async function standingOf(payers: readonly Payer[]) {
    const { rows } = await dashboard.pool.query<{ reference: string; plan: string; ends: boolean; soon: boolean; asked: string[] }>(
      `SELECT reference, given_plan AS plan, cancels_at IS NOT NULL AS ends, look_at <= now() + interval '30 seconds' AS soon,
         ARRAY (SELECT action FROM audit_log WHERE subject_id = p.customer_id::text AND action IN ('payment.cancel', 'payment.switch')) AS asked
       FROM paid_subscription p WHERE customer_id = ANY ($1)`,
      [payers.map(({ customerId }) => customerId)],
    );
    return payers.map(({ subscription }) => {
      const here = rows.find(({ reference }) => reference === subscription.id);
      const { cancel_at_period_end: ends, metadata } = subscription;
      return { isSame: here?.plan === metadata['tollgate_plan'] && here?.ends === ends, isSoon: here?.soon, asked: here?.asked };
    });
  }

  it.each(['cancel', 'switch'] as const)('between any two steps of a press on %s comes to what the provider did, once', async (kind) => {
    const { handler, isDone } = PRESSES[kind];
    const body = { plan: 'Sun', at: Math.floor(clock.now() / 1_000) };
    const press = (payer: Payer, { db, port }: { db: Pool; port: PaymentPort }) => {
      const call = { params: { id: payer.paidId }, body, caller: { customerId: payer.customerId, actor: 'test' } };
      const deps = {
        ...tools(),
        db,
        log: createLog('dashboard', { level: 'silent' }),
        payments: { ports: { sandbox: port }, poke: () => undefined },
      };
      return paymentHandlers[handler](call as never, deps as unknown as DashboardDeps);
    };
    dashboard.hear(false);
    const payers = await killEverywhere(newPayer, (mortal, payer) => press(payer, mortal) as Promise<void>);
    expect(payers.length).toBeGreaterThan(20);
    loseEvents();
    const killed = await standingOf(payers);
    // Nobody has paid for what is not found out within half a minute, and who asked for it is known.
    expect(payers.filter((payer, index) => isDone(payer) && !killed[index]?.isSame && !killed[index]?.isSoon)).toEqual([]);
    expect(payers.filter((payer, index) => isDone(payer) && !killed[index]?.asked?.includes(`payment.${kind}`))).toEqual([]);
    await dashboard.pool.query('UPDATE paid_subscription SET look_at = now() WHERE id = ANY ($1)', [payers.map(({ paidId }) => paidId)]);
    dashboard.poke();
    await dashboard.settled();
    expect((await standingOf(payers)).filter(({ isSame }) => !isSame)).toEqual([]);
    const left = payers.filter((payer) => !isDone(payer));
    expect([left.length > 0, left.length < payers.length]).toEqual([true, true]);
    for (const payer of left) await press(payer, dashboard);
    expect((await standingOf(payers)).filter(({ isSame }) => !isSame)).toEqual([]);
    expect(payers.filter((payer) => !isDone(payer))).toEqual([]);
    const charges = Object.values(dashboard.provider.ledger.books.invoices).filter(
      ({ billing_reason: reason }) => reason === 'subscription_update',
    );
    const own = payers.map(({ subscription }) => charges.filter(({ customer }) => customer === subscription.customer).length);
    expect(new Set(own)).toEqual(new Set([kind === 'switch' ? 1 : 0]));
  });

  describe('while it closes a month and reports use above limits', () => {
    const cap = { daily: 200_000, monthly: 6_000_000 };
    const overage = { per: 1_000, price: '20.00', cap };
    const sea = { ...sun, name: 'Sea', daily: 100, monthly: 3_000, overage };
    const month = '2026-10';
    const at = Date.parse('2026-11-03T12:00:00Z') / 1_000;

    /** Somebody who paid for the plan, and used 617 units above its limits last month: 12.34. */
    async function newUser(): Promise<Wish> {
      await sell({}, [...PRODUCTS.filter((each) => each !== ip), ...(ip ? [{ ...ip, plans: [sea] }] : [])]);
      const wish = { ...(await newWish()), plan: sea.name, price: 99_900, daily: sea.daily, monthly: sea.monthly, overage };
      const { url } = await takePayment(tools(), wish, { ...place, port: dashboard.port });
      dashboard.provider.ledger.pay(sessionOf(url));
      await dashboard.settled();
      const own = [wish.customerId];
      await dashboard.pool.query("UPDATE subscription_term SET since = '2026-09-01' WHERE customer_id = $1", own);
      await dashboard.pool.query(
        "INSERT INTO usage (subscription_id, day, spent_postgres) SELECT id, '2026-10-07', 717 FROM subscription WHERE customer_id = $1",
        own,
      );
      return wish;
    }
    const report = ({ db, port }: Pick<ReturnType<typeof mortalProcess>, 'db' | 'port'>) =>
      reportOverage({ ...tools(), db, ports: { sandbox: port }, log: createLog('dashboard', { level: 'silent' }), isEnding: () => false });
    const itemsOf = (wishes: readonly Wish[]) => {
      const { items, subscriptions } = dashboard.provider.ledger.books;
      const ids = wishes.map(({ customerId }) => customerId);
      return Object.values(items).filter((each) => ids.includes(subscriptions[each.subscription]?.metadata['tollgate_customer'] ?? ''));
    };

    it('leaves each unit to be charged once, though two nodes go on from there', async () => {
      const wishes = await killEverywhere(newUser, async (mortal, { customerId }) => {
        await closeMonth(mortal.db, { customers: [customerId], month, timeZone: 'UTC', now: at });
        await report(mortal);
      });
      // Two ways to die at each of at least seven steps.
      expect(wishes.length).toBeGreaterThan(14);
      const customers = wishes.map(({ customerId }) => customerId);
      const close = () => closeMonth(dashboard.pool, { customers, month, timeZone: 'UTC', now: at });
      expect(await Promise.all([close(), close()])).toEqual([wishes.length, wishes.length]);
      await dashboard.pool.query('UPDATE overage_charge SET look_at = now() WHERE look_at IS NOT NULL');
      await Promise.all([report(dashboard), report(dashboard)]);
      const items = itemsOf(wishes);
      expect(new Set(items.map(({ subscription }) => subscription)).size).toBe(wishes.length);
      expect(items.map(({ amount, currency }) => [amount, currency])).toEqual(wishes.map(() => [1_234, 'inr']));
    });

    it('names what the provider refuses, and charges it once somebody subscribes again', async () => {
      const wish = await newUser();
      const subscription = await endOf(wish);
      await closeMonth(dashboard.pool, { customers: [wish.customerId], month, timeZone: 'UTC', now: at });
      await report(dashboard);
      const uncharged = (await listUnchargedOverage(dashboard.pool)).filter(({ customerId }) => customerId === wish.customerId);
      expect(uncharged).toMatchObject([{ product: PRODUCT, month, units: 617, amount: 1_234, currency: 'INR', provider: 'sandbox' }]);
      expect(uncharged[0]?.problem).toContain(subscription);
      const { url } = await takePayment(tools(), wish, { ...place, port: dashboard.port });
      dashboard.provider.ledger.pay(sessionOf(url));
      await dashboard.settled();
      await dashboard.pool.query('UPDATE overage_charge SET look_at = now() WHERE look_at IS NOT NULL');
      await report(dashboard);
      expect(itemsOf([wish])).toMatchObject([{ amount: 1_234 }]);
      expect((await listUnchargedOverage(dashboard.pool)).filter(({ customerId }) => customerId === wish.customerId)).toEqual([]);
    });

    async function endOf({ customerId }: Wish): Promise<string> {
      const { ledger } = dashboard.provider;
      const found = Object.values(ledger.books.subscriptions).find(({ metadata }) => metadata['tollgate_customer'] === customerId);
      if (!found) throw new Error('no subscription');
      ledger.end(found);
      await dashboard.settled();
      return found.id;
    }
  });

  it('whose request the provider takes for another one, as the catalogue changed since, begins again', async () => {
    const wish = await newWish();
    const mortal = mortalProcess({ pool: dashboard.db, port: dashboard.port }, { step: Infinity, when: 'after' });
    const dying = {
      ...mortal.port,
      openCheckout: async (...given: Parameters<typeof mortal.port.openCheckout>) => {
        await dashboard.port.openCheckout(...given);
        throw new ProviderAway('killed');
      },
    };
    await expect(takePayment(tools(), wish, { ...place, port: dying })).rejects.toThrow('killed');
    await sell(
      {},
      SOLD.map((each) => ({ ...each, title: `${each.title} II` })),
    );
    const { id, url } = await takePayment(tools(), wish, { ...place, port: dashboard.port });
    expect(sessionOf(url).client_reference_id).toBe(id);
    expect(await findAccount(dashboard.db, wish)).toBeDefined();
  });
});

describe('events', () => {
  const headersOf = (body: string, at = clock.now() / 1_000) => ({
    'content-type': 'application/json',
    'stripe-signature': signEvent(body, PAYMENT_KEYS.webhookSecret, Math.floor(at)),
  });
  const PATH = '/api/payments/sandbox/events';

  /** Somebody's checkout at the provider, without its page. */
  function sessionFor(customerId: string): Session {
    const metadata = { tollgate_customer: customerId, tollgate_product: PRODUCT, tollgate_plan: 'Star' };
    return {
      id: `cs_${customerId}`,
      object: 'checkout.session',
      mode: 'subscription',
      status: 'open',
      payment_status: 'unpaid',
      customer: `cus_${customerId}`,
      client_reference_id: null,
      success_url: 'http://dashboard.test',
      cancel_url: 'http://dashboard.test',
      url: null,
      subscription: null,
      expires_at: 0,
      created: 0,
      wish: { name: 'IP', currency: 'inr', amount: 49_900, trialDays: 0, metadata, takesCodes: false },
    };
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

  it('of an hour in which the endpoint was down count once each when all 3,600 come at once, in few queries and small parts', async () => {
    const { bodies, ids } = await unheardOf(240, 6);
    expect(bodies).toHaveLength(3_600);
    const each = jest.spyOn(Client.prototype, 'query');
    const reads = jest.spyOn(Pool.prototype, 'query');
    const answers = await Promise.all(
      bodies.toReversed().map((payload) => dashboard.app.inject({ method: 'POST', url: PATH, payload, headers: headersOf(payload) })),
    );
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([204]));
    await dashboard.settled();
    const queries = each.mock.calls.length;
    const results = (await Promise.all(reads.mock.results.map(({ value }) => value as unknown))) as ({ rows?: unknown[] } | undefined)[];
    const largest = Math.max(...results.map((result) => result?.rows?.length ?? 0));
    each.mockRestore();
    reads.mockRestore();
    // The end of a checkout is no fact of a subscription.
    expect(await standing(ids)).toEqual({ plans: 240, active: 240, facts: 3_600 - 240, waiting: 0, changes: 240 });
    // Two to store each; what they come to is worked out for whole subscriptions.
    expect(queries).toBeLessThan(4 * bodies.length);
    expect([largest > 0, largest <= 500]).toEqual([true, true]);
  });

  it('that are delivered to two nodes at the same time count once', async () => {
    const { bodies, ids } = await unheardOf(8, 3);
    const log = createLog('dashboard', { level: 'silent' });
    const catalogue = watchCatalogue(dashboard.pool);
    const other = { db: dashboard.pool, log, clock, catalogue };
    const payments = startPayments({
      ...other,
      ports: { sandbox: dashboard.port },
      mail: { send: (mail) => Promise.resolve(void dashboard.mails.push(mail)), close: () => undefined },
      url: 'http://other.test',
      timeZone: 'Asia/Kolkata',
      everyMs: 600_000,
    });
    const app = fastify();
    servePaymentEvents(app, { ...other, payments } as unknown as DashboardDeps);
    const both = [app, dashboard.app];
    const answers = await Promise.all(
      [...bodies, ...bodies.toReversed()].flatMap((payload) =>
        both.map((node) => node.inject({ method: 'POST', url: PATH, payload, headers: headersOf(payload) })),
      ),
    );
    expect(new Set(answers.map(({ statusCode }) => statusCode))).toEqual(new Set([204]));
    await Promise.all([payments.settled(), dashboard.settled()]);
    expect(await standing(ids)).toEqual({ plans: 8, active: 8, facts: bodies.length - 8, waiting: 0, changes: 8 });
    const { rows } = await dashboard.pool.query<{ email: string }>('SELECT email FROM customer WHERE id = ANY ($1)', [ids]);
    const receipts = dashboard.mails.filter(({ to, subject }) => rows.some(({ email }) => email === to) && subject.startsWith('Receipt'));
    // The first payment and two renewals of each; one fails and is passed over by the next.
    expect(receipts).toHaveLength(8 * 3);
    await payments.close();
    await app.close();
  });
});

describe('a clock that is a day off', () => {
  it.each([1, -1])('(by %d) gives what is paid, though no event is believed, and ends a grace at its moment', async (days) => {
    ahead.ownMs = days * DAY_MS;
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
    ahead.ownMs = MONTH_MS;
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

describe('the end of a grace', () => {
  it('is told once on the day before, and acted upon at its moment', async () => {
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
    expect(await planOf(customer)).toBe('Star');
    expect(await nextLook(customer)).toBeLessThanOrEqual(61);
    pass(61_000);
    await look(customer);
    expect(await planOf(customer)).toBeNull();
    expect((await mailsTo(customer)).map((subject) => subject.replace(/\d{4}-\d\d-\d\d/, 'DAY'))).toEqual([
      'Receipt for IP lookup: Star',
      'Payment for IP lookup: Star failed',
      'IP lookup: Star ends on DAY',
      'IP lookup: Star has ended',
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

describe('a comparison with the provider', () => {
  it('names what the provider knows nothing of, and leaves it to its period', async () => {
    const customer = await paidCustomer();
    const { subscriptions } = dashboard.provider.ledger.books;
    delete subscriptions[customer.subscription.id];
    const id = await askForPaymentCheck(dashboard.pool);
    dashboard.poke();
    await dashboard.settled();
    const report = await readPaymentCheck(dashboard.pool, id);
    expect(report).toMatchObject({
      problems: [],
      vanished: [{ provider: 'sandbox', subscription: customer.subscription.id, customerId: customer.id, product: PRODUCT }],
    });
    expect(await planOf(customer)).toBe('Star');
  });
});
