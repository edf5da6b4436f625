import { listUnchargedOverage } from '../../../services/selling/billing/overage-charges';
import { askForPaymentCheck, readPaymentCheck } from '../../../services/selling/billing/payment-checks';
import { closeMonth } from '../../../services/selling/statements/read-statement';
import { reportOverage } from '../../../services/dashboard/billing/report-overage';
import { takePayment } from '../../../services/dashboard/billing/take-payment';
import { createLog } from '../../../services/kit/log';
import { PRODUCTS } from '../../support/catalogue';
import { type CommandRun, runCommand } from '../../support/run-command';
import { ip, PRODUCT, sun, useFaultyPayments } from '../support/faulty-payments';
import { type MortalProcess } from '../support/mortal-process';
import { makeOperator } from '../support/operator';
import { paymentWork, type Wish } from '../support/payment-work';

const { dashboard, clock, sell, paidCustomer, planOf } = useFaultyPayments();
const { tools, newWish, place, killEverywhere, sessionOf } = paymentWork({ dashboard, clock });

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
    const { url } = await takePayment(tools(), wish, { ...place, port: dashboard().port });
    dashboard().provider.ledger.pay(sessionOf(url));
    await dashboard().settled();
    const own = [wish.customerId];
    await dashboard().pool.query("UPDATE subscription_term SET since = '2026-09-01' WHERE customer_id = $1", own);
    await dashboard().pool.query("UPDATE paid_subscription SET made_at = '2026-09-01' WHERE customer_id = $1", own);
    await dashboard().pool.query(
      "INSERT INTO usage (subscription_id, day, spent_postgres) SELECT id, '2026-10-07', 717 FROM subscription WHERE customer_id = $1",
      own,
    );
    return wish;
  }
  const report = ({ db, port }: Pick<MortalProcess, 'db' | 'port'>) =>
    reportOverage({ ...tools(), db, ports: { sandbox: port }, log: createLog('dashboard', { level: 'silent' }), isEnding: () => false });
  const itemsOf = (wishes: readonly Wish[]) => {
    const { items, subscriptions } = dashboard().provider.ledger.books;
    const ids = wishes.map(({ customerId }) => customerId);
    return Object.values(items).filter((each) => ids.includes(subscriptions[each.subscription]?.metadata['tollgate_customer'] ?? ''));
  };

  it('is charged once each unit, wherever the process that closes the month and reports it is killed, though two nodes go on from there', async () => {
    const wishes = await killEverywhere(newUser, async (mortal, { customerId }) => {
      await closeMonth(mortal.db, { customers: [customerId], month, timeZone: 'UTC', now: at });
      await report(mortal);
    });
    // Two ways to die at each of at least seven steps.
    expect(wishes.length).toBeGreaterThan(14);
    const customers = wishes.map(({ customerId }) => customerId);
    const close = () => closeMonth(dashboard().pool, { customers, month, timeZone: 'UTC', now: at });
    expect(await Promise.all([close(), close()])).toEqual([wishes.length, wishes.length]);
    await dashboard().pool.query('UPDATE overage_charge SET look_at = now() WHERE look_at IS NOT NULL');
    await Promise.all([report(dashboard()), report(dashboard())]);
    const items = itemsOf(wishes);
    expect(new Set(items.map(({ subscription }) => subscription)).size).toBe(wishes.length);
    expect(items.map(({ amount, currency }) => [amount, currency])).toEqual(wishes.map(() => [1_234, 'inr']));
  });

  it('is named where the provider refuses it, and charged once somebody subscribes again', async () => {
    const wish = await newUser();
    const subscription = await endOf(wish);
    await closeMonth(dashboard().pool, { customers: [wish.customerId], month, timeZone: 'UTC', now: at });
    await report(dashboard());
    const uncharged = (await listUnchargedOverage(dashboard().pool)).filter(({ customerId }) => customerId === wish.customerId);
    expect(uncharged).toMatchObject([{ product: PRODUCT, month, units: 617, amount: 1_234, currency: 'INR', provider: 'sandbox' }]);
    expect(uncharged[0]?.problem).toContain(subscription);
    const { cookie } = await makeOperator(dashboard());
    const inConsole = async () =>
      ((await dashboard().ask({ path: '/api/operator/billing', cookie })).json().uncharged as { customerId: string }[]).filter(
        ({ customerId }) => customerId === wish.customerId,
      );
    const owed = { customer: expect.stringContaining('@'), product: PRODUCT, month, units: 617, amount: '12.34', currency: 'INR' };
    expect(await inConsole()).toMatchObject([{ ...owed, problem: expect.stringContaining(subscription) }]);
    const { url } = await takePayment(tools(), wish, { ...place, port: dashboard().port });
    dashboard().provider.ledger.pay(sessionOf(url));
    await dashboard().settled();
    await dashboard().pool.query('UPDATE overage_charge SET look_at = now() WHERE look_at IS NOT NULL');
    await report(dashboard());
    expect(itemsOf([wish])).toMatchObject([{ amount: 1_234 }]);
    expect(await inConsole()).toEqual([]);
    expect((await listUnchargedOverage(dashboard().pool)).filter(({ customerId }) => customerId === wish.customerId)).toEqual([]);
  });

  it.each(['before', 'after'])('that is reported %s a period which nobody pays begins is charged once afterwards', async (when) => {
    const wish = await newUser();
    const { ledger } = dashboard().provider;
    const subscription = subscriptionOf(wish);
    const pause = async (isPaused: boolean) => {
      subscription.pause_collection = isPaused ? { behavior: 'void', resumes_at: null } : null;
      ledger.changed(subscription);
      await dashboard().settled();
    };
    const close = () => closeMonth(dashboard().pool, { customers: [wish.customerId], month, timeZone: 'UTC', now: at });
    if (when === 'before') await close();
    await report(dashboard());
    await pause(true);
    await close();
    await report(dashboard());
    ledger.renew(subscription, true);
    await dashboard().settled();
    await report(dashboard());
    await pause(false);
    await report(dashboard());
    await report(dashboard());
    ledger.renew(subscription, true);
    ledger.renew(subscription, true);
    await dashboard().settled();
    const paid = Object.values(ledger.books.invoices).filter((each) => each.customer === subscription.customer && each.status === 'paid');
    expect(paid.map(({ amount_paid: amount }) => amount)).toEqual([99_900, 101_134, 99_900]);
  });

  function subscriptionOf({ customerId }: Wish) {
    const found = Object.values(dashboard().provider.ledger.books.subscriptions).find(
      ({ metadata }) => metadata['tollgate_customer'] === customerId,
    );
    if (!found) throw new Error('no subscription');
    return found;
  }

  async function endOf(wish: Wish): Promise<string> {
    const found = subscriptionOf(wish);
    dashboard().provider.ledger.end(found);
    await dashboard().settled();
    return found.id;
  }

  /** `npx tollgate billing reconcile`, beside a dashboard that looks for such work all the time. */
  async function reconcile(...flags: string[]): Promise<CommandRun> {
    const looking = setInterval(() => dashboard().poke(), 100);
    try {
      return await runCommand(['billing', 'reconcile', ...flags], { databaseUrl: dashboard().databaseUrl });
    } finally {
      clearInterval(looking);
      await dashboard().settled();
    }
  }

  it('is named with its amount by the command that compares, which exits with 2 for it and for what it mended, and with 0 for nothing', async () => {
    await reconcile();
    const nothing = await reconcile();
    expect(nothing).toMatchObject({ code: 0, stderr: '', stdout: expect.stringMatching(/^\d+ compared, 0 differed and were mended\n$/) });
    const quiet = await reconcile('--json');
    expect([quiet.code, JSON.parse(quiet.stdout)]).toMatchObject([0, { differences: [], vanished: [], uncharged: [], problems: [] }]);

    const wish = await newUser();
    dashboard().hear(false);
    const subscription = await endOf(wish);
    dashboard().provider.ledger.books.waiting = [];
    const mended = await reconcile();
    expect(mended).toMatchObject({ code: 2, stderr: '', stdout: expect.stringContaining('1 differed and were mended') });
    expect(mended.stdout).toMatch(new RegExp(`sandbox +${subscription} +${wish.customerId} +${PRODUCT} +status +active +ended`));

    await closeMonth(dashboard().pool, { customers: [wish.customerId], month, timeZone: 'UTC', now: at });
    await report(dashboard());
    const text = await reconcile();
    expect([text.code, text.stdout]).toMatchObject([2, expect.stringContaining('0 differed and were mended')]);
    expect(text.stdout).toMatch(
      new RegExp(`not charged:\nprovider[^\n]+\nsandbox +${wish.customerId} +${PRODUCT} +${month} +12\\.34 INR +.*${subscription}`),
    );
    const json = await reconcile('--json');
    const owed = { customerId: wish.customerId, product: PRODUCT, month, units: 617, amount: 1_234, currency: 'INR', provider: 'sandbox' };
    expect([json.code, JSON.parse(json.stdout)]).toMatchObject([2, { differences: [], uncharged: [owed], problems: [] }]);

    dashboard().line.setMode('reset');
    const away = await reconcile('--json');
    expect([away.code, JSON.parse(away.stderr)]).toMatchObject([1, { error: { code: 'provider_away' } }]);
  });
});

describe('a comparison with the provider', () => {
  it('names what the provider knows nothing of, and leaves it to its period', async () => {
    const customer = await paidCustomer();
    const { subscriptions } = dashboard().provider.ledger.books;
    delete subscriptions[customer.subscription.id];
    const id = await askForPaymentCheck(dashboard().pool);
    dashboard().poke();
    await dashboard().settled();
    const report = await readPaymentCheck(dashboard().pool, id);
    expect(report).toMatchObject({
      problems: [],
      vanished: [{ provider: 'sandbox', subscription: customer.subscription.id, customerId: customer.id, product: PRODUCT }],
    });
    expect(await planOf(customer)).toBe('Star');
  });
});
