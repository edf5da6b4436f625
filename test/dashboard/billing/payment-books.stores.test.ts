import { askForPaymentCheck, readPaymentCheck } from '../../../services/selling/billing/payment-checks';
import { listCharges } from '../../../services/selling/billing/payment-charges';
import { verdict } from '../support/dashboard';
import { makeOperator } from '../support/operator';
import { type PayingCustomer } from '../support/paying-people';
import { makeSellerToken } from '../support/seller-token';
import { DAY_MS, MONTH_MS, PRODUCT, useFaultyPayments } from '../support/faulty-payments';

const { dashboard, faults, look, loseEvents, newCustomer, pass, planOf, productOf, paidCustomer } = useFaultyPayments();

describe('the nightly comparison', () => {
  const compare = async () => {
    const id = await askForPaymentCheck(dashboard.pool);
    dashboard.poke();
    await dashboard.settled();
    return readPaymentCheck(dashboard.pool, id);
  };

  const chargesOf = async (customerId: string) =>
    (await listCharges(dashboard.pool, { customerId, timeZone: 'Asia/Kolkata', limit: 10 })).rows;

  describe('a comparison with the provider', () => {
    it('finds charges and refunds of which every event was lost, and tells of each once though the events come after all', async () => {
      const customer = await paidCustomer();
      await compare();
      const { ledger } = dashboard.provider;
      dashboard.hear(false);
      ledger.renew(customer.subscription, true);
      ledger.refund(customer.subscription);
      const late = ledger.books.waiting;
      ledger.books.waiting = [];
      const about = `charge ${customer.subscription.latest_invoice ?? ''}`;
      const own = ((await compare())?.differences ?? []).filter(({ subscription }) => subscription === customer.subscription.id);
      expect(own.flatMap(({ changed }) => (about in changed ? [changed[about]] : []))).toEqual([
        [null, 'paid 499.00 INR'],
        [null, 'refunded 499.00 INR'],
      ]);
      const found = await chargesOf(customer.id);
      expect(found.map(({ state, refunded }) => [state, refunded])).toEqual([
        ['paid', 49_900],
        ['paid', 0],
      ]);
      expect((await compare())?.differences).toEqual([]);
      dashboard.hear(true);
      ledger.books.waiting = late;
      await dashboard.settled();
      expect(await chargesOf(customer.id)).toEqual(found);
      const { email } = (await customer.ask('/session')).json();
      expect(dashboard.mails.filter(({ to, subject }) => to === email && subject.startsWith('Receipt'))).toHaveLength(2);
    });
  });

  describe('the seller', () => {
    it('sees by month what was paid, is due, overdue, failed and not known, each customer’s payments, and a record of each', async () => {
      const { ledger } = dashboard.provider;
      const { cookie } = await makeOperator(dashboard);
      const see = async (path: string) => dashboard.ask({ path: `/api${path}`, cookie });
      const sums = async () => (await see('/operator/billing')).json();
      type Amounts = Record<'invoiced' | 'paid' | 'due' | 'overdue' | 'failed', string | null>;
      const thisMonth = async (): Promise<Amounts> => (await sums()).months.find(({ by }: { by: string }) => by === 'sandbox');
      const before = await thisMonth();
      const risen = async (): Promise<Record<string, number | null>> => {
        const now = await thisMonth();
        const rise = (member: keyof Amounts): number | null => (now[member] === null ? null : Number(now[member]) - Number(before[member]));
        return { invoiced: rise('invoiced'), paid: rise('paid'), due: rise('due'), overdue: rise('overdue'), failed: rise('failed') };
      };
      const [due, overdue, failed] = [await paidCustomer(), await paidCustomer(), await paidCustomer()];
      for (const { subscription } of [due, overdue, failed]) {
        ledger.renew(subscription, false);
        await dashboard.settled();
      }
      await dashboard.pool.query("UPDATE paid_subscription SET entitlement = 'none', given_plan = NULL WHERE reference = $1", [
        overdue.subscription.id,
      ]);
      ledger.end(failed.subscription);
      await dashboard.settled();
      expect(await risen()).toEqual({ invoiced: 6 * 499, paid: 3 * 499, due: 499, overdue: 499, failed: 499 });
      expect((await sums()).provider).toBe('sandbox');

      const { payments, next } = (await see(`/operator/payments?customer=${due.id}`)).json();
      const [first, second] = payments;
      expect([next, payments.length]).toEqual([null, 2]);
      expect(first).toMatchObject({ state: 'due', amount: '499.00', product: PRODUCT, customerId: due.id, paidAt: null });
      expect(second).toMatchObject({
        state: 'paid',
        provider: 'sandbox',
        paidAt: second.chargedAt,
        url: expect.stringContaining('/invoices/'),
      });
      const page = (await see('/operator/payments?limit=2&state=paid')).json();
      expect((await see(`/operator/payments?limit=2&state=paid&after=${page.next}`)).json().payments).not.toEqual(page.payments);
      expect((await see('/operator/payments?month=2020-01')).json().payments).toEqual([]);
      const csv = (await see(`/operator/payments.csv?customer=${failed.id}`)).body.split('\r\n');
      expect(csv.map((line) => line.split(',').slice(6, 11).join()).slice(0, 3)).toEqual([
        'product,state,paid_on,amount,currency',
        `${PRODUCT},failed,,499.00,INR`,
        expect.stringMatching(`^${PRODUCT},paid,\\d{4}-\\d\\d-\\d\\d,499.00,INR$`),
      ]);

      const retry = (of: { reference: string }, who = cookie) => {
        const body = { provider: 'sandbox', reference: of.reference };
        return dashboard.ask({ method: 'POST', path: '/api/operator/payments/retry', cookie: who, body });
      };
      const owed = async (of: { id: string }) => (await see(`/operator/payments?customer=${of.id}`)).json().payments[0];
      expect([first.canRetry, second.canRetry, (await owed(failed)).canRetry]).toEqual([true, false, false]);
      ledger.declinesNext = true;
      const declined = await retry(first);
      expect([declined.statusCode, declined.json().code, (await owed(due)).state]).toEqual([409, 'payment_failed', 'due']);
      expect((await retry(await owed(overdue))).statusCode).toBe(204);
      await dashboard.settled();
      expect([(await owed(overdue)).state, await planOf(overdue)]).toEqual(['paid', 'Star']);
      for (const settled of [await owed(overdue), await owed(failed), second])
        expect((await retry(settled)).json().code).toBe('change_refused');
      expect((await retry({ reference: 'in_of_nobody' })).json().code).toBe('payment_unknown');
      expect((await due.ask('/operator/payments/retry', { provider: 'sandbox', reference: first.reference })).statusCode).toBe(403);
      const { rows: lines } = await dashboard.pool.query(
        "SELECT actor, details FROM audit_log WHERE action = 'payment.retry' AND subject_id = $1",
        [overdue.id],
      );
      expect(lines).toMatchObject([{ actor: expect.stringMatching(/^operator:/), details: { amount: '499.00', currency: 'INR' } }]);

      // The provider says that nothing is owed any more, and what was paid was never heard.
      dashboard.hear(false);
      ledger.recover(due.subscription);
      ledger.books.waiting = [];
      await dashboard.pool.query('UPDATE paid_subscription SET look_at = now() WHERE reference = $1', [due.subscription.id]);
      dashboard.poke();
      await dashboard.settled();
      expect(await risen()).toMatchObject({ paid: null, due: 0 });
      await compare();
      expect(await risen()).toMatchObject({ paid: 5 * 499, due: 0 });
    });
  });
});

describe('money at the seller’s console', () => {
  let cookie = '';
  beforeAll(async () => {
    ({ cookie } = await makeOperator(dashboard));
  });

  const see = async (path: string) => (await dashboard.ask({ path: `/api/operator${path}`, cookie })).json();
  const post = (path: string, body: unknown) => dashboard.ask({ method: 'POST', path: `/api/operator${path}`, body, cookie });

  describe('a refund by the seller', () => {
    const paymentOf = async ({ id }: PayingCustomer) => (await see(`/payments?customer=${id}`)).payments[0];
    const refund = (of: { provider: string; reference: string }, amount: string, refunded = '0.00') => {
      const { provider, reference } = of;
      return post('/payments/refund', { provider, reference, amount, refunded, reason: 'a bad month' });
    };
    const given = ({ reference }: { reference: string }): number[] =>
      Object.values(dashboard.provider.ledger.books.refunds).flatMap((each) => (each.invoice === reference ? [each.amount] : []));

    it('gives back a part and the rest, never more than was paid, and the plan goes on', async () => {
      const customer = await paidCustomer();
      const payment = await paymentOf(customer);
      expect(payment).toMatchObject({ refunded: '0.00', refundable: '499.00' });
      expect(verdict(await refund(payment, '499.01'))).toBe('409 change_refused');
      expect(verdict(await refund(payment, '100.005'))).toBe('400 price_malformed');
      expect(verdict(await refund(payment, '100.00'))).toBe('204');
      expect(await paymentOf(customer)).toMatchObject({ refunded: '100.00', refundable: '399.00' });
      expect(verdict(await refund(payment, '399.01', '100.00'))).toBe('409 change_refused');
      expect(verdict(await refund(payment, '399', '100'))).toBe('204');
      expect(await paymentOf(customer)).toMatchObject({ refunded: '499.00', refundable: '0.00' });
      expect([given(payment), await planOf(customer)]).toEqual([[10_000, 39_900], 'Star']);
      const { rows } = await dashboard.pool.query("SELECT details FROM audit_log WHERE action = 'payment.refund' AND subject_id = $1", [
        customer.id,
      ]);
      expect(rows[0]).toMatchObject({ details: { amount: '100.00', currency: 'INR', reason: 'a bad month' } });
    });

    it('is made once, however often and by how many it is sent', async () => {
      const customer = await paidCustomer();
      const payment = await paymentOf(customer);
      const answers = await Promise.all([1, 2, 3].map(() => refund(payment, '100.00')));
      expect(answers.map(verdict).toSorted()[0]).toBe('204');
      expect(verdict(await refund(payment, '100.00'))).toBe('409 version_conflict');
      expect(given(payment)).toEqual([10_000]);
    });

    it('is made once though the answer is lost, and the next request reads whether it was', async () => {
      const customer = await paidCustomer();
      const payment = await paymentOf(customer);
      loseEvents();
      faults.losesAnswers = true;
      expect(verdict(await refund(payment, '100.00'))).toBe('503 payment_away');
      faults.losesAnswers = false;
      expect(await paymentOf(customer)).toMatchObject({ refunded: '0.00' });
      expect(verdict(await refund(payment, '100.00'))).toBe('204');
      expect([given(payment), (await paymentOf(customer)).refunded]).toEqual([[10_000], '100.00']);
      faults.losesAnswers = true;
      expect(verdict(await refund(payment, '50.00', '100.00'))).toBe('503 payment_away');
      faults.losesAnswers = false;
      expect(verdict(await refund(payment, '70.00', '100.00'))).toBe('409 version_conflict');
      expect([given(payment), (await paymentOf(customer)).refunded]).toEqual([[10_000, 5_000], '150.00']);
    });

    it('that the provider refuses is over, and another one can be made', async () => {
      const customer = await paidCustomer();
      const payment = await paymentOf(customer);
      loseEvents();
      dashboard.provider.ledger.refund(customer.subscription);
      expect(verdict(await refund(payment, '100.00'))).toBe('409 change_refused');
      const { rows } = await dashboard.pool.query('SELECT refund_id FROM payment_charge WHERE invoice = $1', [payment.reference]);
      expect(rows).toEqual([{ refund_id: null }]);
      expect(given(payment)).toEqual([49_900]);
    });
  });

  const paidOf = async ({ id }: PayingCustomer) => (await see(`/customers/${id}/paid-plans`)).paid;

  describe('the end of a payment by the seller', () => {
    const end = async (customer: PayingCustomer, when: 'now' | 'with_period') =>
      post(`/customers/${customer.id}/paid-plans/${(await paidOf(customer))[0].id}/end`, { when });

    it('is now, or with the period that is paid', async () => {
      const customer = await paidCustomer();
      expect(await paidOf(customer)).toMatchObject([{ product: PRODUCT, plan: 'Star', price: '499.00', cancelsAt: null }]);
      expect(verdict(await end(customer, 'with_period'))).toBe('204');
      expect([await planOf(customer), (await paidOf(customer))[0].cancelsAt]).toEqual(['Star', expect.any(String)]);
      expect(verdict(await end(customer, 'now'))).toBe('204');
      expect([await planOf(customer), await paidOf(customer)]).toEqual([null, []]);
      const { rows } = await dashboard.pool.query(
        "SELECT action, actor FROM audit_log WHERE action IN ('payment.cancel', 'payment.end') AND subject_id = $1 ORDER BY id",
        [customer.id],
      );
      expect(rows).toMatchObject([
        { action: 'payment.cancel', actor: expect.stringMatching(/^operator:/) },
        { action: 'payment.end', actor: expect.stringMatching(/^operator:/) },
      ]);
    });

    it('is for one customer’s payment alone, and for a program with the scope', async () => {
      const [customer, other] = [await paidCustomer(), await paidCustomer()];
      const [{ id }] = await paidOf(customer);
      expect(verdict(await post(`/customers/${other.id}/paid-plans/${id}/end`, { when: 'now' }))).toBe('404 paid_plan_unknown');
      const { secret } = await makeSellerToken(dashboard, cookie, ['payments:read', 'payments:write']);
      const headers = { authorization: `Bearer ${secret}` };
      const path = `/api/seller/customers/${customer.id}/paid-plans`;
      expect((await dashboard.ask({ path, headers })).json().paid).toMatchObject([{ id, plan: 'Star' }]);
      const ended = await dashboard.ask({ method: 'POST', path: `${path}/${id}/end`, headers, body: { when: 'now' } });
      expect([verdict(ended), await planOf(customer), await planOf(other)]).toEqual(['204', null, 'Star']);
    });
  });

  describe('a discount by the seller', () => {
    const give = async (
      customer: PayingCustomer,
      discount: { percent: number } | { amount: string } | null,
      months: number | null = null,
    ) => {
      const [{ id }] = await paidOf(customer);
      const path = `/api/operator/customers/${customer.id}/paid-plans/${id}/discount`;
      return dashboard.ask({ method: 'PUT', path, cookie, body: { discount, months, reason: 'a good customer' } });
    };
    const charges = async ({ id }: PayingCustomer): Promise<string[]> =>
      (await see(`/payments?customer=${id}`)).payments.map(({ amount }: { amount: string }) => amount);

    it('is off the next charges that the provider makes; the customer reads it, and it can be taken away', async () => {
      const customer = await paidCustomer();
      const { ledger } = dashboard.provider;
      expect(verdict(await give(customer, { percent: 25 }, 1))).toBe('204');
      const own = async () => (await customer.ask('/billing')).json().paid[0];
      expect(await own()).toMatchObject({
        price: '499.00',
        charge: '374.25',
        discount: { percent: 25, amount: null, until: expect.any(String) },
      });
      for (const _month of [1, 2]) {
        ledger.renew(customer.subscription, true);
        await dashboard.settled();
      }
      expect(await charges(customer)).toEqual(['499.00', '374.25', '499.00']);
      expect(await own()).toMatchObject({ charge: '499.00', discount: null });
      expect(verdict(await give(customer, { amount: '99.00' }))).toBe('204');
      expect(await own()).toMatchObject({ charge: '400.00', discount: { percent: null, amount: '99.00', until: null } });
      expect(verdict(await give(customer, null))).toBe('204');
      expect(await own()).toMatchObject({ charge: '499.00', discount: null });
    });

    it('is no more than the price, in the currency’s decimals', async () => {
      const customer = await paidCustomer();
      for (const amount of ['499.01', '0', '1.005']) expect(verdict(await give(customer, { amount }))).toBe('400 price_malformed');
      expect((await give(customer, { percent: 101 })).statusCode).toBe(400);
      expect(await paidOf(customer)).toMatchObject([{ discount: null }]);
    });

    it('by an amount has a dearer plan begin with the next period, since it is off each charge', async () => {
      const customer = await paidCustomer();
      const [{ id }] = await paidOf(customer);
      expect(await (await customer.ask(`/paid-plans/${id}/preview`, { plan: 'Sun' })).json()).toMatchObject({
        begins: 'now',
        amount: '500.00',
      });
      await give(customer, { amount: '99.00' });
      expect((await customer.ask(`/paid-plans/${id}/preview`, { plan: 'Sun' })).json()).toMatchObject({
        begins: 'next_period',
        amount: '0.00',
      });
      await give(customer, { percent: 10 });
      expect((await customer.ask(`/paid-plans/${id}/preview`, { plan: 'Sun' })).json()).toMatchObject({ begins: 'now', amount: '450.00' });
    });
  });

  describe('a payment for what is suspended or paused', () => {
    const suspend = async (kind: 'customer' | 'subscription', id: string, reason: string | null, pausePayment = reason !== null) =>
      post('/suspensions', { kind, id, reason, pausePayment });
    const isPaused = async (customer: PayingCustomer): Promise<boolean> => (await paidOf(customer))[0].isPaused;

    it('is paused where the operator says so, charges nothing meanwhile, and goes on once nothing of it is suspended', async () => {
      const customer = await paidCustomer();
      const { subscription } = await productOf(customer);
      const own = subscription?.id ?? '';
      expect(verdict(await suspend('customer', customer.id, 'abuse', false))).toBe('204');
      expect(await isPaused(customer)).toBe(false);
      expect(verdict(await suspend('customer', customer.id, 'abuse'))).toBe('204');
      expect(await isPaused(customer)).toBe(true);
      const { payments } = await see(`/payments?customer=${customer.id}`);
      dashboard.provider.ledger.renew(customer.subscription, true);
      await dashboard.settled();
      expect((await see(`/payments?customer=${customer.id}`)).payments).toEqual(payments);
      expect(verdict(await suspend('subscription', own, 'abuse'))).toBe('204');
      expect(verdict(await suspend('customer', customer.id, null))).toBe('204');
      expect(await isPaused(customer)).toBe(true);
      expect(verdict(await suspend('subscription', own, null))).toBe('204');
      expect([await isPaused(customer), await planOf(customer)]).toEqual([false, 'Star']);
    });

    it('goes on while the customer pauses the product', async () => {
      const customer = await paidCustomer();
      const { subscription } = await productOf(customer);
      const paused = await customer.ask(`/subscriptions/${subscription?.id}/pause`, { version: subscription?.version });
      expect([paused.statusCode, (await productOf(customer)).subscription?.state]).toEqual([200, 'paused']);
      expect(await isPaused(customer)).toBe(false);
      dashboard.provider.ledger.renew(customer.subscription, true);
      await dashboard.settled();
      const { payments } = await see(`/payments?customer=${customer.id}`);
      expect(payments.map(({ amount }: { amount: string }) => amount)).toEqual(['499.00', '499.00']);
      expect(await planOf(customer)).toBe('Star');
    });

    it('buys no other plan while it is paused, and the plan ends with the period that is paid and its grace', async () => {
      const customer = await paidCustomer();
      const { subscription } = await productOf(customer);
      await suspend('subscription', subscription?.id ?? '', 'abuse');
      const [{ id }] = await paidOf(customer);
      expect(verdict(await customer.ask(`/paid-plans/${id}/preview`, { plan: 'Sun' }))).toBe('409 change_refused');
      pass(MONTH_MS + 8 * DAY_MS);
      dashboard.provider.ledger.renew(customer.subscription, true);
      await look(customer);
      expect(await planOf(customer)).toBeNull();
      const resume = await post(`/customers/${customer.id}/paid-plans/${id}/resume`, {});
      expect([verdict(resume), await planOf(customer)]).toEqual(['204', 'Star']);
    });

    it('buys nothing for a subscription that is suspended, though its payment goes on', async () => {
      const [customer, other] = [await paidCustomer(), await newCustomer()];
      const [own, bare] = [
        (await productOf(customer)).subscription,
        (await other.ask('/subscriptions', { product: PRODUCT, plan: null })).json(),
      ];
      for (const { id } of [own ?? { id: '' }, bare]) expect(verdict(await suspend('subscription', id, 'abuse', false))).toBe('204');
      const [{ id }] = await paidOf(customer);
      const refusals = [
        await customer.ask(`/paid-plans/${id}/preview`, { plan: 'Sun' }),
        await other.ask('/checkouts', { product: PRODUCT, plan: 'Star' }),
      ];
      for (const refusal of refusals) {
        expect([verdict(refusal), refusal.json().detail]).toEqual(['409 change_refused', expect.stringContaining('Contact the seller')]);
      }
      expect(verdict(await suspend('subscription', own?.id ?? '', null))).toBe('204');
      expect(verdict(await customer.ask(`/paid-plans/${id}/preview`, { plan: 'Sun' }))).toBe('200');
    });

    it('stays paused when the answer is lost, and is asked for again', async () => {
      const customer = await paidCustomer();
      loseEvents();
      faults.losesAnswers = true;
      expect(verdict(await suspend('customer', customer.id, 'abuse'))).toBe('503 payment_away');
      faults.losesAnswers = false;
      expect(verdict(await suspend('customer', customer.id, 'abuse'))).toBe('204');
      expect([await isPaused(customer), customer.subscription.pause_collection]).toEqual([true, { behavior: 'void', resumes_at: null }]);
    });
  });
});
