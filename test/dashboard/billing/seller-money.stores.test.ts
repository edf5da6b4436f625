import { makeOperator } from '../support/operator';
import { type PayingCustomer } from '../support/paying-people';
import { makeSellerToken } from '../support/seller-token';
import { PRODUCT, useFaultyPayments } from '../support/faulty-payments';

const { dashboard, faults, loseEvents, planOf, paidCustomer } = useFaultyPayments();
let cookie = '';
beforeAll(async () => {
  ({ cookie } = await makeOperator(dashboard()));
});

const see = async (path: string) => (await dashboard().ask({ path: `/api/operator${path}`, cookie })).json();
const post = (path: string, body: unknown) => dashboard().ask({ method: 'POST', path: `/api/operator${path}`, body, cookie });
const verdict = ({ statusCode, body }: Awaited<ReturnType<typeof post>>): string =>
  body === '' ? String(statusCode) : `${statusCode} ${JSON.parse(body).code}`;

describe('a refund by the seller', () => {
  const paymentOf = async ({ id }: PayingCustomer) => (await see(`/payments?customer=${id}`)).payments[0];
  const refund = (of: { provider: string; reference: string }, amount: string, refunded = '0.00') => {
    const { provider, reference } = of;
    return post('/payments/refund', { provider, reference, amount, refunded, reason: 'a bad month' });
  };
  const given = ({ reference }: { reference: string }): number[] =>
    Object.values(dashboard().provider.ledger.books.refunds).flatMap((each) => (each.invoice === reference ? [each.amount] : []));

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
    const { rows } = await dashboard().pool.query("SELECT details FROM audit_log WHERE action = 'payment.refund' AND subject_id = $1", [
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
    dashboard().provider.ledger.refund(customer.subscription);
    expect(verdict(await refund(payment, '100.00'))).toBe('409 change_refused');
    const { rows } = await dashboard().pool.query('SELECT refund_id FROM payment_charge WHERE invoice = $1', [payment.reference]);
    expect(rows).toEqual([{ refund_id: null }]);
    expect(given(payment)).toEqual([49_900]);
  });
});

describe('the end of a payment by the seller', () => {
  const paidOf = async ({ id }: PayingCustomer) => (await see(`/customers/${id}/paid-plans`)).paid;
  const end = async (customer: PayingCustomer, when: 'now' | 'with_period') =>
    post(`/customers/${customer.id}/paid-plans/${(await paidOf(customer))[0].id}/end`, { when });

  it('is now, or with the period that is paid', async () => {
    const customer = await paidCustomer();
    expect(await paidOf(customer)).toMatchObject([{ product: PRODUCT, plan: 'Star', price: '499.00', cancelsAt: null }]);
    expect(verdict(await end(customer, 'with_period'))).toBe('204');
    expect([await planOf(customer), (await paidOf(customer))[0].cancelsAt]).toEqual(['Star', expect.any(String)]);
    expect(verdict(await end(customer, 'now'))).toBe('204');
    expect([await planOf(customer), await paidOf(customer)]).toEqual([null, []]);
    const { rows } = await dashboard().pool.query(
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
    const { secret } = await makeSellerToken(dashboard(), cookie, ['payments:read', 'payments:write']);
    const headers = { authorization: `Bearer ${secret}` };
    const path = `/api/seller/customers/${customer.id}/paid-plans`;
    expect((await dashboard().ask({ path, headers })).json().paid).toMatchObject([{ id, plan: 'Star' }]);
    const ended = await dashboard().ask({ method: 'POST', path: `${path}/${id}/end`, headers, body: { when: 'now' } });
    expect([verdict(ended), await planOf(customer), await planOf(other)]).toEqual(['204', null, 'Star']);
  });
});
