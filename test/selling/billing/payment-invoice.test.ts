import { billingTerms, type BillingDetails, type InvoicingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { chargesOf } from '../../../services/selling/billing/charge-states';
import { type InvoiceContent } from '../../../services/selling/billing/invoice';
import { composePaymentInvoice, composeRefund, type PaidUse } from '../../../services/selling/billing/payment-invoice';
import { decideRefund } from '../../../services/selling/billing/refund-intents';
import { type DatedFact, type PaymentFact, planAt } from '../../../services/selling/paid-plans/payment-state';
import { fc } from '../../support/fast-check';

const seller = { name: 'Acme Data', address: ['12 MG Road'], country: 'IN', tax_id: '29AAGCB7383J1Z4' };
const terms = (tax: object | null = { gst: { rate: 18 } }): InvoicingTerms =>
  billingTerms.parse({
    provider: 'stripe',
    seller,
    invoices: { for: 'each_payment', from: '2026-01' },
    tax: tax ?? undefined,
  }) as InvoicingTerms;
const german = billingTerms.parse({
  provider: 'stripe',
  seller: { ...seller, country: 'DE', tax_id: 'DE136695976' },
  invoices: { for: 'each_payment', from: '2026-01' },
  tax: { vat: { DE: 19, FR: 20 } },
}) as InvoicingTerms;
const buyer = (country: string, state: string | null = null, taxId: string | null = null): BillingDetails => ({
  ...{ name: 'Buyer', address: ['Street 1'], country, state, taxId, email: null },
});

const PAYMENT = {
  provider: 'stripe',
  reference: 'in_1',
  payment: null,
  product: 'api-ip',
  plan: 'Star',
  currency: 'INR',
  paidOn: '2026-04-03',
};
const use = (amount: number): PaidUse => ({ product: 'api-ip', month: '2026-03', units: 617, amount });
const invoice = (
  amount: number,
  uses: readonly PaidUse[] = [],
  by: { terms?: InvoicingTerms; details?: BillingDetails } = {},
): InvoiceContent =>
  composePaymentInvoice(
    { ...PAYMENT, amount, use: uses },
    { terms: by.terms ?? terms(), customer: 'asha@example.com', details: by.details, issuedOn: '2026-04-03', titleOf: () => 'IP lookup' },
  );
const taxesOf = ({ taxes }: InvoiceContent): string[] => taxes.map(({ name, percent, amount }) => `${name} ${percent} ${amount}`);
const partsOf = ({ lines, taxes }: InvoiceContent): number[] => [...lines, ...taxes].map(({ amount }) => amount);
const sum = (amounts: readonly number[]): number => amounts.reduce((all, each) => all + each, 0);

describe('an invoice for a payment', () => {
  it.each([
    ['in the seller’s state', terms(), undefined, ['CGST 9 7619', 'SGST 9 7619', 'net 84662']],
    ['in another state', terms(), buyer('IN', '27'), ['IGST 18 15239', 'net 84661']],
    ['abroad', terms(), buyer('US'), ['IGST 18 15239', 'net 84661']],
    ['abroad under a letter of undertaking', terms({ gst: { rate: 18, lut: 'AD1' } }), buyer('US'), ['IGST 0 0', 'net 99900']],
    ['without a table', terms(null), undefined, ['net 99900']],
    ['in the seller’s country', german, buyer('DE'), ['VAT 19 15950', 'net 83950']],
    ['in another country of the table', german, buyer('FR'), ['VAT 20 16650', 'net 83250']],
    ['of a business there', german, buyer('FR', null, 'FR40303265045'), ['VAT 0 0', 'net 99900']],
  ])('contains the tax of the table, of a buyer %s', (_where, by, details, parts) => {
    const made = invoice(99_900, [], { terms: by, ...(details && { details }) });
    expect([[...taxesOf(made), `net ${made.net}`], made.total]).toEqual([parts, 99_900]);
  });

  it('names plan, payment and use above the limits, each use on a line of its own', () => {
    const made = invoice(51_134, [use(1_234)]);
    expect(made.lines.map(({ title, amount }) => [title, amount])).toEqual([
      ['IP lookup, plan Star', 42_288],
      ['IP lookup: 617 above the limits in 2026-03', 1_046],
    ]);
    expect(made).toMatchObject({ month: '2026-04', net: 43_334, total: 51_134, payment: null, dueOn: '2026-04-03' });
    expect(made.notes).toEqual(['Paid on 2026-04-03 through Stripe, reference in_1.']);
  });

  it('is over what was paid to the last unit, whatever that was, was for and is taxed', () => {
    const table = fc.constantFrom(terms(), terms({ gst: { rate: 0.25 } }), terms(null), german);
    const details = fc.constantFrom(buyer('IN', '29'), buyer('IN', '27'), buyer('US'), buyer('FR'), buyer('DE'));
    const uses = fc.array(fc.integer({ min: 1, max: 200_000 }), { maxLength: 4 });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 9_999_999 }), uses, fc.record({ terms: table, details }), (paid, above, by) => {
        const made = invoice(paid, above.map(use), by);
        expect([made.total, sum(partsOf(made)), sum(made.lines.map(({ amount }) => amount))]).toEqual([paid, paid, made.net]);
        expect(Math.min(...partsOf(made))).toBeGreaterThanOrEqual(0);
        for (const { percent, amount } of made.taxes) expect(Math.abs(amount - (made.net * Number(percent)) / 100)).toBeLessThan(1);
        expect(made.lines.filter(({ title }) => title.includes('above the limits'))).toHaveLength(above.length);
      }),
    );
  });
});

describe('a credit note for a refund', () => {
  it('takes back of each line and tax its share', () => {
    const made = composeRefund(invoice(99_900), { amount: 10_000, before: [], issuedOn: '2026-04-09' });
    expect(made).toMatchObject({ total: 10_000, net: 8_476, month: '2026-04', issuedOn: '2026-04-09' });
    expect(taxesOf(made)).toEqual(['CGST 9 762', 'SGST 9 762']);
  });

  it('never takes back more of a line or tax than it has, and all of each once all went back', () => {
    const paid = fc.integer({ min: 1, max: 2_000_000 });
    fc.assert(
      fc.property(
        paid,
        fc.array(fc.integer({ min: 1, max: 3_000 }), { maxLength: 3 }),
        fc.array(fc.nat(1_000)),
        (amount, above, shares) => {
          const whole = invoice(amount, above.map(use));
          const notes: InvoiceContent[] = [];
          let left = amount;
          for (const share of [...shares, 1_000]) {
            const back = Math.floor((left * share) / 1_000);
            if (back === 0) continue;
            notes.push(composeRefund(whole, { amount: back, before: notes, issuedOn: '2026-04-09' }));
            left -= back;
          }
          let netLeft = whole.net;
          for (const note of notes) {
            expect([sum(partsOf(note)), note.net + sum(note.taxes.map((tax) => tax.amount))]).toEqual([note.total, note.total]);
            expect(Math.min(...partsOf(note))).toBeGreaterThanOrEqual(0);
            netLeft -= note.net;
            if (netLeft > 0) expect(new Set(note.taxes.map((tax) => tax.amount)).size).toBe(1);
          }
          expect(partsOf(whole).map((_, place) => sum(notes.map((note) => partsOf(note)[place] ?? 0)))).toEqual(partsOf(whole));
        },
      ),
    );
  });

  it('is refused for more than is left', () => {
    const whole = invoice(99_900);
    const first = composeRefund(whole, { amount: 50_000, before: [], issuedOn: '2026-04-09' });
    expect(() => composeRefund(whole, { amount: 49_901, before: [first], issuedOn: '2026-04-09' })).toThrow(RangeError);
  });
});

describe('a charge', () => {
  const dated = (at: number, fact: PaymentFact): DatedFact => ({ id: `${at} ${JSON.stringify(fact)}`, at, fact });
  const plan = (at: number, name: string, more: object = {}) =>
    dated(at, { kind: 'subscription', status: 'active', plan: name, price: 1, currency: 'INR', periodEnd: 100, ...more });
  const paid = (at: number, invoiceId = 'in_1') => dated(at, { kind: 'paid', invoice: invoiceId, amount: 900, currency: 'INR', url: null });
  const back = (at: number, amount: number, payment = 'pay_1') =>
    dated(at, { kind: 'refunded', invoice: 'in_1', payment, amount, currency: 'INR' });

  it('knows each time that something went back, in whatever order that was heard', () => {
    const facts = [paid(1), back(2, 100), back(3, 100), back(4, 250), back(5, 50, 'pay_2'), back(9, 250)];
    for (const heard of [facts, facts.toReversed()]) {
      expect(chargesOf(heard)).toMatchObject([{ refunded: 300, refunds: [100, 250, 300] }]);
    }
    expect(chargesOf([paid(1)])).toMatchObject([{ refunded: 0, refunds: [], refundedAt: null }]);
  });

  it.each([
    ['the plan that was held', [plan(1, 'Star')], 'Star'],
    ['a dearer plan, of which the provider tells after the charge', [plan(1, 'Star'), plan(51, 'Sun')], 'Sun'],
    ['a plan that waited for the period', [plan(1, 'Star', { periodEnd: 50, next: { plan: 'Sun', price: 2 } })], 'Sun'],
    ['no plan that comes later', [plan(1, 'Star'), plan(50, 'Sun'), plan(90, 'Mega')], 'Sun'],
    ['none before the provider has named one', [], null],
  ])('is for %s', (_what, facts, wanted) => {
    expect([planAt(facts, 50), chargesOf([...facts, paid(50)])[0]?.plan]).toEqual([wanted, wanted]);
  });
});

describe('a refund that is asked for', () => {
  const paid = { amount: 49_900, refunded: 0, isPaid: true, open: null };
  it.each([
    ['is new', paid, { amount: 49_900, refunded: 0 }, 'new'],
    ['is of what is left', { ...paid, refunded: 100 }, { amount: 49_800, refunded: 100 }, 'new'],
    ['is no more than that', { ...paid, refunded: 100 }, { amount: 49_801, refunded: 100 }, 'too_much'],
    ['is of something', paid, { amount: 0, refunded: 0 }, 'too_much'],
    ['is asked for by somebody who has seen all that went back', { ...paid, refunded: 100 }, { amount: 1, refunded: 0 }, 'changed'],
    ['is of what was paid', { ...paid, isPaid: false }, { amount: 1, refunded: 0 }, 'unpaid'],
    ['waits for the one before', { ...paid, open: { id: '1', amount: 7, isTaken: true } }, { amount: 1, refunded: 0 }, 'taken'],
    ['comes after the one before', { ...paid, open: { id: '1', amount: 7, isTaken: false } }, { amount: 1, refunded: 0 }, 'again'],
  ] as const)('%s', (_what, facts, wanted, decision) => {
    expect(decideRefund(facts, wanted)).toBe(decision);
  });

  it('gives no more back than was paid, and nothing for a request that is sent again, in any history', () => {
    const request = fc.record({ amount: fc.nat(60), refunded: fc.nat(120) });
    fc.assert(
      fc.property(fc.nat(100), fc.array(request, { maxLength: 20 }), (amount, requests) => {
        let refunded = 0;
        for (const wanted of requests) {
          const facts = { amount, refunded, isPaid: true, open: null };
          const before = refunded;
          if (decideRefund(facts, wanted) === 'new') refunded += wanted.amount;
          if (refunded > before) expect(decideRefund({ ...facts, refunded }, wanted)).toBe('changed');
        }
        expect(refunded).toBeLessThanOrEqual(amount);
      }),
    );
  });
});
