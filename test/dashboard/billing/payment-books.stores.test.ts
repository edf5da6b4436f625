import { applyCatalogue } from '../../../services/selling/catalogue/apply-catalogue';
import { askForPaymentCheck, readPaymentCheck } from '../../../services/selling/billing/payment-checks';
import { listCharges } from '../../../services/selling/billing/payment-charges';
import { createCatalogue } from '../../../plugins/core/catalogue/catalogue';
import { PRODUCTS } from '../../support/catalogue';
import { makeOperator } from '../support/operator';
import { type PayingDashboard, startPayingDashboard } from '../support/paying-dashboard';
import { payingPeople } from '../support/paying-people';

const PRODUCT = 'api-ip';
let dashboard: PayingDashboard;
beforeAll(async () => {
  dashboard = await startPayingDashboard();
  await applyCatalogue(dashboard.pool, createCatalogue(PRODUCTS), { actor: 'test' });
});
afterAll(() => dashboard.close());
beforeEach(() => dashboard.hear(true));

const { planOf, paidCustomer } = payingPeople(() => dashboard, PRODUCT);

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
