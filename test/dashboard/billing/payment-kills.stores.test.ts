import { type Pool } from 'pg';
import { findAccount, requireCheckout } from '../../../services/selling/billing/checkouts';
import { listPaid } from '../../../services/selling/paid-plans/paid-subscriptions';
import { paidPlanHandlers } from '../../../services/dashboard/billing/change-paid-plan';
import { paymentHandlers } from '../../../services/dashboard/billing/payment-handlers';
import { type PaymentPort, ProviderAway } from '../../../services/selling/billing/payment-port';
import { settleCheckout, takePayment } from '../../../services/dashboard/billing/take-payment';
import { type DashboardDeps } from '../../../services/dashboard/http/dashboard-deps';
import { createLog } from '../../../services/kit/log';
import { type Subscription } from '../../../services/sandbox/payments/objects';
import { PRODUCT, SOLD, useFaultyPayments } from '../support/faulty-payments';
import { mortalProcess } from '../support/mortal-process';
import { paymentWork, type Wish } from '../support/payment-work';

const { dashboard, clock, sell, loseEvents } = useFaultyPayments();
const { tools, newWish, place, killEverywhere, sessionOf } = paymentWork({ dashboard, clock });

describe('a process that is killed', () => {
  /** As it must be for each who paid once: the plan, one page, one subscription, one receipt. */
  async function expectPaidOnce(wishes: readonly Wish[]): Promise<void> {
    const ids = wishes.map(({ customerId }) => customerId);
    const { rows } = await dashboard().pool.query(
      `SELECT count(*)::integer AS customers, count(*) FILTER (WHERE s.plan_name = 'Star' AND s.state = 'active')::integer AS plans,
         (SELECT count(*)::integer FROM paid_subscription WHERE customer_id = ANY ($1) AND entitlement = 'plan') AS paid,
         (SELECT count(*)::integer FROM checkout WHERE customer_id = ANY ($1) AND state = 'paid') AS checkouts,
         (SELECT count(*)::integer FROM checkout WHERE customer_id = ANY ($1) AND state = 'open') AS open
       FROM subscription s WHERE s.customer_id = ANY ($1) AND s.product_id = $2`,
      [ids, PRODUCT],
    );
    const count = ids.length;
    expect(rows).toEqual([{ customers: count, plans: count, paid: count, checkouts: count, open: 0 }]);
    const { sessions, subscriptions } = dashboard().provider.ledger.books;
    const owners = (of: readonly { metadata: Record<string, string> }[]) =>
      of.flatMap(({ metadata }) => (ids.includes(metadata['tollgate_customer'] ?? '') ? [metadata['tollgate_customer']] : []));
    const own = owners(Object.values(sessions).map(({ wish }) => wish));
    expect([own.length, new Set(own).size]).toEqual([count, count]);
    expect(owners(Object.values(subscriptions))).toHaveLength(count);
  }

  async function lookAtAll(wishes: readonly Wish[]): Promise<void> {
    const ids = wishes.map(({ customerId }) => customerId);
    await dashboard().pool.query('UPDATE checkout SET look_at = now() WHERE customer_id = ANY ($1) AND look_at IS NOT NULL', [ids]);
    dashboard().poke();
    await dashboard().settled();
  }

  it('between any two steps of a checkout leaves one page, which the next press leads to, and which gives the plan once', async () => {
    dashboard().hear(false);
    const wishes = await killEverywhere(newWish, ({ db, port }, wish) => takePayment({ ...tools(), db }, wish, { ...place, port }));
    // Two ways to die at each of at least eight steps.
    expect(wishes.length).toBeGreaterThan(16);
    for (const wish of wishes) {
      const { url } = await takePayment(tools(), wish, { ...place, port: dashboard().port });
      dashboard().provider.ledger.pay(sessionOf(url));
    }
    loseEvents();
    await lookAtAll(wishes);
    await expectPaidOnce(wishes);
  });

  it('between any two steps of taking over what was paid leaves the rest to the next process', async () => {
    dashboard().hear(false);
    const checkouts = new Map<Wish, string>();
    const prepare = async (): Promise<Wish> => {
      const wish = await newWish();
      const { id, url } = await takePayment(tools(), wish, { ...place, port: dashboard().port });
      dashboard().provider.ledger.pay(sessionOf(url));
      checkouts.set(wish, id);
      return wish;
    };
    const wishes = await killEverywhere(prepare, async ({ db, port }, wish) => {
      const found = await requireCheckout(dashboard().db, { id: checkouts.get(wish) ?? '', customerId: wish.customerId });
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
    const { id, url } = await takePayment(tools(), wish, { ...place, port: dashboard().port });
    const subscription = dashboard().provider.ledger.pay(sessionOf(url));
    const found = await requireCheckout(dashboard().db, { id, customerId: wish.customerId });
    await settleCheckout(tools(), found, await dashboard().port.settleCheckout(found.session ?? '', 'look'));
    const [paid] = await listPaid(dashboard().db, wish.customerId);
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
    const { rows } = await dashboard().pool.query<{ reference: string; plan: string; ends: boolean; soon: boolean; asked: string[] }>(
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
        log: createLog('dashboard', { level: 'silent' }),
        payments: { ports: { sandbox: port }, poke: () => undefined },
      };
      return handlers[name](call as never, deps as unknown as DashboardDeps) as Promise<unknown>;
    };
    const press = async (payer: Payer, process: { db: Pool; port: PaymentPort }) => {
      const isSwitch = kind === 'switch';
      const shown = isSwitch ? await ask('POST /paid-plans/:id/preview', payer, { plan: 'Sun' }, dashboard()) : {};
      return ask(handler, payer, shown as object, process);
    };
    dashboard().hear(false);
    const payers = await killEverywhere(newPayer, (mortal, payer) => press(payer, mortal));
    expect(payers.length).toBeGreaterThan(20);
    loseEvents();
    const killed = await standingOf(payers);
    // Nobody has paid for what is not found out within half a minute, and who asked for it is known.
    expect(payers.filter((payer, index) => isDone(payer) && !killed[index]?.isSame && !killed[index]?.isSoon)).toEqual([]);
    expect(payers.filter((payer, index) => isDone(payer) && !killed[index]?.asked?.includes(`payment.${kind}`))).toEqual([]);
    await dashboard().pool.query('UPDATE paid_subscription SET look_at = now() WHERE id = ANY ($1)', [payers.map(({ paidId }) => paidId)]);
    dashboard().poke();
    await dashboard().settled();
    expect((await standingOf(payers)).filter(({ isSame }) => !isSame)).toEqual([]);
    const left = payers.filter((payer) => !isDone(payer));
    expect([left.length > 0, left.length < payers.length]).toEqual([true, true]);
    for (const payer of left) await press(payer, dashboard());
    expect((await standingOf(payers)).filter(({ isSame }) => !isSame)).toEqual([]);
    expect(payers.filter((payer) => !isDone(payer))).toEqual([]);
    const charges = Object.values(dashboard().provider.ledger.books.invoices).filter(
      ({ billing_reason: reason }) => reason === 'subscription_update',
    );
    const own = payers.map(({ subscription }) => charges.filter(({ customer }) => customer === subscription.customer).length);
    expect(new Set(own)).toEqual(new Set([kind === 'switch' ? 1 : 0]));
  });

  it('whose request the provider takes for another one, as the catalogue changed since, begins again', async () => {
    const wish = await newWish();
    const mortal = mortalProcess({ pool: dashboard().db, port: dashboard().port }, { step: Infinity, when: 'after' });
    const dying = {
      ...mortal.port,
      openCheckout: async (...given: Parameters<typeof mortal.port.openCheckout>) => {
        await dashboard().port.openCheckout(...given);
        throw new ProviderAway('killed');
      },
    };
    await expect(takePayment(tools(), wish, { ...place, port: dying })).rejects.toThrow('killed');
    await sell(
      {},
      SOLD.map((each) => ({ ...each, title: `${each.title} II` })),
    );
    const { id, url } = await takePayment(tools(), wish, { ...place, port: dashboard().port });
    expect(sessionOf(url).client_reference_id).toBe(id);
    expect(await findAccount(dashboard().db, wish)).toBeDefined();
  });
});
