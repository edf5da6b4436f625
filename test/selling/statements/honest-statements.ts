import { billingTerms, type InvoicingTerms } from '../../../plugins/core/catalogue/billing-terms';
import { composeInvoices } from '../../../services/selling/billing/invoice';
import { includedNow } from '../../../services/selling/statements/included-use';
import { computeStatement, type StatementUse, type SubscriptionTerm } from '../../../services/selling/statements/statement';
import { fc } from '../../support/fast-check';

const PRICES = [0, 999, 4_900, 5_900];
const MONTH = '2026-04';
const DAYS = 30;
const ANY = 1_000_000;

const plan = fc.record({
  price: fc.constantFrom(...PRICES),
  daily: fc.nat(30),
  sold: fc.option(fc.record({ per: fc.constantFrom(1, 7, 100), price: fc.integer({ min: 1, max: 2_000 }), room: fc.nat(40) })),
});
type Plan = typeof plan extends fc.Arbitrary<infer One> ? One & { readonly name: string } : never;

const ownPrice = fc.oneof({ weight: 3, arbitrary: fc.constant(null) }, { weight: 1, arbitrary: fc.constantFrom(...PRICES) });

/**
 * A month of one subscription: on each day the plans that were held, each perhaps at a price of the customer's own, and a use that one of
 * them admitted. A day without any was paused, or cancelled.
 */
export const statedHistories = fc.array(plan, { minLength: 1, maxLength: 4 }).chain((plans) => {
  const named = plans.map((each, index): Plan => ({ ...each, name: `Plan ${index}` }));
  const held = fc
    .tuple(fc.subarray(named), fc.array(ownPrice, { minLength: named.length, maxLength: named.length }))
    .map(([some, own]) => some.map((each, index) => ({ ...each, price: own[index] ?? each.price })));
  return fc.array(fc.record({ held, first: fc.constantFrom(...named), share: fc.double({ min: 0, max: 1, noNaN: true }) }), {
    minLength: DAYS,
    maxLength: DAYS,
  });
});

const capOf = ({ daily, sold }: Plan): number => daily + (sold?.room ?? 0);
const rateOf = ({ sold }: Plan): number => (sold ? sold.price / sold.per : Infinity);
const text = (minor: number): string => (minor / 100).toFixed(2);

function termOf({ name, price, daily, sold }: Plan, day: string, isActive: boolean): SubscriptionTerm {
  const cap = sold && { daily: daily + sold.room, monthly: ANY };
  const overage = sold && cap && { per: sold.per, price: text(sold.price), cap };
  const about = { subscriptionId: 'one', product: 'api-ip', currency: 'EUR', monthly: ANY };
  return { ...about, plan: name, price: text(price), daily, overage, isActive, isPaidInAdvance: false, fromDay: day, toDay: day };
}

/** What a day's units above a plan's limit cost, each at its own rate. */
function above({ daily }: Plan, units: number, rateAt: (unit: number) => number): number {
  let sum = 0;
  for (let unit = daily + 1; unit <= units; unit++) sum += rateAt(unit);
  return sum;
}

/** What a day costs at least, by the cheapest honest way to its use, and its units above the limits at most. */
function boundsOf(held: readonly Plan[], units: number): { least: number; mostAbove: number } {
  const dearest = held.reduce<Plan | undefined>((a, b) => (a && b.price < a.price ? a : b), undefined);
  if (!dearest) return { least: 0, mostAbove: 0 };
  const ratesAt = (unit: number): number[] => held.filter((each) => each.sold && capOf(each) >= unit).map(rateOf);
  const sellsAt = (unit: number): boolean => dearest.sold !== null && capOf(dearest) >= unit;
  return {
    // One plan's limits, and each unit above them from the cheapest plan that admits it.
    least: Math.min(...held.map((each) => each.price / DAYS + above(each, units, (unit) => Math.min(...ratesAt(unit))))),
    mostAbove: above(dearest, units, (unit) => (sellsAt(unit) ? rateOf(dearest) : Math.max(0, ...ratesAt(unit)))),
  };
}

const INVOICING = billingTerms.parse({
  provider: 'invoice',
  seller: { name: 'Acme', address: ['Street 1'], country: 'IN' },
  invoices: { from: '2026-01' },
}) as InvoicingTerms;
const ISSUING = { terms: INVOICING, customer: 'asha@example.com', details: undefined, issuedOn: '2026-05-03', titleOf: () => 'IP lookup' };

/** Nobody pays less than the cheapest honest way to the same use, nor more than the dearest plan held with its overage; nor by invoice. */
export function expectHonestStatement(days: typeof statedHistories extends fc.Arbitrary<infer One> ? One : never): void {
  const [terms, use]: [SubscriptionTerm[], StatementUse[]] = [[], []];
  let [least, most] = [0, Math.max(0, ...days.flatMap(({ held }) => held.map(({ price }) => price)))];
  for (const [index, { held, first, share }] of days.entries()) {
    const day = `${MONTH}-${String(index + 1).padStart(2, '0')}`;
    const charged = Math.floor(share * Math.max(0, ...held.map(capOf)));
    use.push({ subscriptionId: 'one', day, charged, refunded: 0, test: 0, requests: charged });
    terms.push(...(held.length === 0 ? [termOf(first, day, false)] : held.map((each) => termOf(each, day, true))));
    const bounds = boundsOf(held, charged);
    least += bounds.least;
    most += bounds.mostAbove;
  }
  const statement = computeStatement(MONTH, terms, use);
  const amount = Math.round(Number(statement.totals[0]?.amount ?? 0) * 100);
  // Days and overage are rounded once each.
  expect(amount).toBeGreaterThanOrEqual(least - 1.001);
  expect(amount).toBeLessThanOrEqual(most + 1.001);
  expect(composeInvoices(statement, ISSUING).reduce((sum, { net }) => sum + net, 0)).toBe(amount);
  const sumOf = (all: readonly { readonly charged: number }[]): number => all.reduce((sum, { charged }) => sum + charged, 0);
  expect(sumOf(statement.lines)).toBe(sumOf(use));
  // What customers read before the month is over is what its statement charges for.
  const today = use.at(-1)?.day ?? '';
  const { above } = includedNow({ terms, use, today, limits: { daily: ANY, monthly: ANY } }).thisMonth;
  expect(above).toBe(statement.lines.reduce((sum, { overage }) => sum + (overage?.units ?? 0), 0));
}
