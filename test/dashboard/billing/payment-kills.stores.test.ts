import { type Pool } from 'pg';
import { findAccount, requireCheckout } from '../../../services/selling/billing/checkouts';
import { listUnchargedOverage } from '../../../services/selling/billing/overage-charges';
import { askForPaymentCheck, readPaymentCheck } from '../../../services/selling/billing/payment-checks';
import { type PaymentPort, ProviderAway } from '../../../services/selling/billing/payment-port';
import { listPaid } from '../../../services/selling/paid-plans/paid-subscriptions';
import { closeMonth } from '../../../services/selling/statements/read-statement';
import { paidPlanHandlers } from '../../../services/dashboard/billing/change-paid-plan';
import { paymentHandlers } from '../../../services/dashboard/billing/payment-handlers';
import { reportOverage } from '../../../services/dashboard/billing/report-overage';
import { settleCheckout, takePayment } from '../../../services/dashboard/billing/take-payment';
import { type DashboardDeps } from '../../../services/dashboard/http/dashboard-deps';
import { createLog } from '../../../services/kit/log';
import { type StripeSubscription } from '../../../services/sandbox/payments/objects';
import { PRODUCTS } from '../../support/catalogue';
import { type CommandRun, runCommand } from '../../support/run-command';
import { ip, PRODUCT, SOLD, sun, useFaultyPayments } from '../support/faulty-payments';
import { type MortalProcess, mortalProcess } from '../support/mortal-process';
import { makeOperator } from '../support/operator';
import { paymentWork, type Wish } from '../support/payment-work';

const { dashboard, clock, sell, loseEvents, paidCustomer, planOf } = useFaultyPayments();
const { tools, newWish, place, killEverywhere, deaths, sessionOf } = paymentWork({ dashboard, clock });
const log = createLog('dashboard', { level: 'silent' });

describe('a process that is killed', () => {
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

  async function lookAtAll(wishes: readonly Wish[]): Promise<void> {
    const ids = wishes.map(({ customerId }) => customerId);
    await dashboard.pool.query('UPDATE checkout SET look_at = now() WHERE customer_id = ANY ($1) AND look_at IS NOT NULL', [ids]);
    dashboard.poke();
    await dashboard.settled();
  }

  it('between any two steps of a checkout leaves one page, which the next press leads to, and which gives the plan once', async () => {
    dashboard.hear(false);
    const wishes = await killEverywhere(newWish, ({ db, port }, wish) => takePayment({ ...tools(), db }, wish, { ...place, port }));
    expect(wishes.length).toBeGreaterThan(8 * deaths);
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
    expect(wishes.length).toBeGreaterThan(10 * deaths);
    loseEvents();
    await lookAtAll(wishes);
    await expectPaidOnce(wishes);
  });

  interface Payer {
    readonly customerId: string;
    readonly paidId: string;
    readonly subscription: StripeSubscription;
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
    const handlers = { ...paymentHandlers, ...paidPlanHandlers };
    const ask = async (name: keyof typeof handlers, payer: Payer, body: object, { db, port }: { db: Pool; port: PaymentPort }) => {
      const call = { params: { id: payer.paidId }, body, caller: { customerId: payer.customerId, actor: 'test' } };
      const deps = {
        ...tools(),
        db,
        log,
        payments: { ports: { sandbox: port }, poke: () => undefined },
      };
      return handlers[name](call as never, deps as unknown as DashboardDeps) as Promise<unknown>;
    };
    const press = async (payer: Payer, process: { db: Pool; port: PaymentPort }) => {
      const isSwitch = kind === 'switch';
      const shown = isSwitch ? await ask('POST /paid-plans/:id/preview', payer, { plan: 'Sun' }, dashboard) : {};
      return ask(handler, payer, shown as object, process);
    };
    dashboard.hear(false);
    const payers = await killEverywhere(newPayer, (mortal, payer) => press(payer, mortal));
    expect(payers.length).toBeGreaterThan(10 * deaths);
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

describe('use above the limits of a month that is over', () => {
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
    await dashboard.pool.query("UPDATE paid_subscription SET made_at = '2026-09-01' WHERE customer_id = $1", own);
    await dashboard.pool.query(
      "INSERT INTO usage (subscription_id, day, spent_postgres) SELECT id, '2026-10-07', 717 FROM subscription WHERE customer_id = $1",
      own,
    );
    return wish;
  }
  const report = ({ db, port }: Pick<MortalProcess, 'db' | 'port'>) =>
    reportOverage({ ...tools(), db, ports: { sandbox: port }, log, isEnding: () => false });
  const itemsOf = (wishes: readonly Wish[]) => {
    const { items, subscriptions } = dashboard.provider.ledger.books;
    const ids = wishes.map(({ customerId }) => customerId);
    return Object.values(items).filter((each) => ids.includes(subscriptions[each.subscription]?.metadata['tollgate_customer'] ?? ''));
  };

  it('is charged once each unit, wherever the process that closes the month and reports it is killed, though two nodes go on from there', async () => {
    const wishes = await killEverywhere(newUser, async (mortal, { customerId }) => {
      await closeMonth(mortal.db, { customers: [customerId], month, timeZone: 'UTC', now: at });
      await report(mortal);
    });
    expect(wishes.length).toBeGreaterThan(7 * deaths);
    const customers = wishes.map(({ customerId }) => customerId);
    const close = () => closeMonth(dashboard.pool, { customers, month, timeZone: 'UTC', now: at });
    expect(await Promise.all([close(), close()])).toEqual([wishes.length, wishes.length]);
    await dashboard.pool.query('UPDATE overage_charge SET look_at = now() WHERE look_at IS NOT NULL');
    await Promise.all([report(dashboard), report(dashboard)]);
    const items = itemsOf(wishes);
    expect(new Set(items.map(({ subscription }) => subscription)).size).toBe(wishes.length);
    expect(items.map(({ amount, currency }) => [amount, currency])).toEqual(wishes.map(() => [1_234, 'inr']));
  });

  it('is named where the provider refuses it, and charged once somebody subscribes again', async () => {
    const wish = await newUser();
    const subscription = await endOf(wish);
    await closeMonth(dashboard.pool, { customers: [wish.customerId], month, timeZone: 'UTC', now: at });
    await report(dashboard);
    const uncharged = (await listUnchargedOverage(dashboard.pool)).filter(({ customerId }) => customerId === wish.customerId);
    expect(uncharged).toMatchObject([{ product: PRODUCT, month, units: 617, amount: 1_234, currency: 'INR', provider: 'sandbox' }]);
    expect(uncharged[0]?.problem).toContain(subscription);
    const { cookie } = await makeOperator(dashboard);
    const inConsole = async () =>
      ((await dashboard.ask({ path: '/api/operator/billing', cookie })).json().uncharged as { customerId: string }[]).filter(
        ({ customerId }) => customerId === wish.customerId,
      );
    const owed = { customer: expect.stringContaining('@'), product: PRODUCT, month, units: 617, amount: '12.34', currency: 'INR' };
    expect(await inConsole()).toMatchObject([{ ...owed, problem: expect.stringContaining(subscription) }]);
    const { url } = await takePayment(tools(), wish, { ...place, port: dashboard.port });
    dashboard.provider.ledger.pay(sessionOf(url));
    await dashboard.settled();
    await dashboard.pool.query('UPDATE overage_charge SET look_at = now() WHERE look_at IS NOT NULL');
    await report(dashboard);
    expect(itemsOf([wish])).toMatchObject([{ amount: 1_234 }]);
    expect(await inConsole()).toEqual([]);
    expect((await listUnchargedOverage(dashboard.pool)).filter(({ customerId }) => customerId === wish.customerId)).toEqual([]);
  });

  it.each(['before', 'after'])('that is reported %s a period which nobody pays begins is charged once afterwards', async (when) => {
    const wish = await newUser();
    const { ledger } = dashboard.provider;
    const subscription = subscriptionOf(wish);
    const pause = async (isPaused: boolean) => {
      subscription.pause_collection = isPaused ? { behavior: 'void', resumes_at: null } : null;
      ledger.changed(subscription);
      await dashboard.settled();
    };
    const close = () => closeMonth(dashboard.pool, { customers: [wish.customerId], month, timeZone: 'UTC', now: at });
    if (when === 'before') await close();
    await report(dashboard);
    await pause(true);
    await close();
    await report(dashboard);
    ledger.renew(subscription, true);
    await dashboard.settled();
    await report(dashboard);
    await pause(false);
    await report(dashboard);
    await report(dashboard);
    ledger.renew(subscription, true);
    ledger.renew(subscription, true);
    await dashboard.settled();
    const paid = Object.values(ledger.books.invoices).filter((each) => each.customer === subscription.customer && each.status === 'paid');
    expect(paid.map(({ amount_paid: amount }) => amount)).toEqual([99_900, 101_134, 99_900]);
  });

  function subscriptionOf({ customerId }: Wish) {
    const found = Object.values(dashboard.provider.ledger.books.subscriptions).find(
      ({ metadata }) => metadata['tollgate_customer'] === customerId,
    );
    if (!found) throw new Error('no subscription');
    return found;
  }

  async function endOf(wish: Wish): Promise<string> {
    const found = subscriptionOf(wish);
    dashboard.provider.ledger.end(found);
    await dashboard.settled();
    return found.id;
  }

  /** `npx tollgate billing reconcile`, beside a dashboard that looks for such work all the time. */
  async function reconcile(...flags: string[]): Promise<CommandRun> {
    const looking = setInterval(() => dashboard.poke(), 100);
    try {
      return await runCommand(['billing', 'reconcile', ...flags], { databaseUrl: dashboard.databaseUrl });
    } finally {
      clearInterval(looking);
      await dashboard.settled();
    }
  }

  it('is named with its amount by the command that compares, which exits with 2 for it and for what it mended, and with 0 for nothing', async () => {
    await askForPaymentCheck(dashboard.pool);
    const nothing = await reconcile();
    expect(nothing).toMatchObject({
      code: 0,
      stderr: '',
      stdout: expect.stringMatching(/^\d+ compared, 0 differed and were corrected\n$/),
    });
    const wish = await newUser();
    dashboard.hear(false);
    const subscription = await endOf(wish);
    dashboard.provider.ledger.books.waiting = [];
    const mended = await reconcile();
    expect(mended).toMatchObject({ code: 2, stderr: '', stdout: expect.stringContaining('1 differed and were corrected') });
    expect(mended.stdout).toMatch(new RegExp(`sandbox +${subscription} +${wish.customerId} +${PRODUCT} +status +active +ended`));

    await closeMonth(dashboard.pool, { customers: [wish.customerId], month, timeZone: 'UTC', now: at });
    await report(dashboard);
    const json = await reconcile('--json');
    const owed = { customerId: wish.customerId, product: PRODUCT, month, units: 617, amount: 1_234, currency: 'INR', provider: 'sandbox' };
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([2, { differences: [], uncharged: [owed], problems: [] }]);

    dashboard.line.setMode('reset');
    const away = await reconcile('--json');
    expect([away.code, JSON.parse(away.stderr)]).toMatchObject([1, { error: { code: 'provider_away' } }]);
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
