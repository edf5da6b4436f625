import {
  computeStatement,
  daysOfMonth,
  shareOfPrice,
  type StatementUse,
  type SubscriptionTerm,
} from '../../../services/selling/statements/statement';
import { fc, propertyRuns } from '../../support/fast-check';
import { expectHonestStatement, statedHistories } from './honest-statements';

const star: SubscriptionTerm = {
  subscriptionId: 'one',
  product: 'api-ip',
  plan: 'Star',
  price: '499.00',
  currency: 'INR',
  daily: 100_000,
  monthly: 3_000_000,
  overage: null,
  isActive: true,
  isPaidInAdvance: false,
  fromDay: '2026-01-10',
  toDay: '9999-12-31',
};
const base: SubscriptionTerm = { ...star, plan: null, price: '0.00', currency: null, daily: 1_000, monthly: 30_000 };
const used = (day: string, charged: number, refunded = 0, test = 0): StatementUse => ({
  subscriptionId: 'one',
  day,
  charged,
  refunded,
  test,
  requests: charged,
});
const linesOf = (terms: SubscriptionTerm[], use: StatementUse[] = [], month = '2026-02') =>
  computeStatement(month, terms, use).lines.map(({ plan, days, amount, charged }) => [plan, days, amount, charged]);

describe('a statement', () => {
  it('costs the price for a whole month, whatever its length', () => {
    for (const month of ['2026-02', '2028-02', '2026-03', '2026-04']) {
      expect(computeStatement(month, [star], []).totals).toEqual([{ currency: 'INR', amount: '499.00' }]);
    }
  });

  it('costs each day its share, and a day with two plans the dearer one', () => {
    const change = [
      { ...base, fromDay: '2026-02-01', toDay: '2026-02-10' },
      { ...star, fromDay: '2026-02-10', toDay: '2026-02-20' },
      { ...base, fromDay: '2026-02-20' },
    ];
    expect(linesOf(change, [used('2026-02-10', 7), used('2026-02-21', 5)])).toEqual([
      [null, 17, '0.00', 5],
      ['Star', 11, '196.04', 7],
    ]);
  });

  it('costs nothing while the subscription is paused or cancelled, a day that was active for a part costs', () => {
    const pause = [
      { ...star, toDay: '2026-02-05' },
      { ...star, fromDay: '2026-02-05', isActive: false },
    ];
    expect(linesOf(pause)).toEqual([['Star', 5, '89.11', 0]]);
  });

  it('costs nothing of a price that a payment provider charged, also where nothing was surcharged, and what was sold above its limits', () => {
    const overage = { per: 10, price: '20.00', cap: { daily: 1_000, monthly: 10_000 } };
    const paid = { ...star, daily: 10, monthly: 300, overage, isPaidInAdvance: true, fromDay: '2026-02-11', toDay: '9999-12-31' };
    const before = { ...star, fromDay: '2026-02-01', toDay: '2026-02-10' };
    const { lines, totals } = computeStatement('2026-02', [before, paid], [used('2026-02-12', 22), used('2026-02-13', 9)]);
    expect(
      lines.map(({ isPaidInAdvance, days, used: counted, surcharge, amount }) => [isPaidInAdvance, days, counted, surcharge, amount]),
    ).toEqual([
      [false, 10, 0, '0.00', '178.21'],
      [true, 18, 31, '0.00', '24.00'],
    ]);
    expect(totals).toEqual([{ currency: 'INR', amount: '178.21' }]);
    expect(computeStatement('2026-02', [{ ...paid, overage: null }], [used('2026-02-12', 300)]).totals).toEqual([]);
  });

  it('keeps prices apart, also of one plan, and currencies', () => {
    const rise = [
      { ...star, toDay: '2026-02-14' },
      { ...star, fromDay: '2026-02-15', price: '599.00' },
      { ...star, subscriptionId: 'two', price: '10.00', currency: 'EUR' },
    ];
    expect(computeStatement('2026-02', rise, []).totals).toEqual([
      { currency: 'INR', amount: '549.00' },
      { currency: 'EUR', amount: '10.00' },
    ]);
  });

  it('charges test keys nothing, and shows what was given back', () => {
    const [line] = computeStatement('2026-02', [star], [used('2026-02-02', 10, 3, 40), used('2026-02-03', 0, 0, 2)]).lines;
    expect(line).toMatchObject({ charged: 10, refunded: 3, used: 7, test: 42, amount: '499.00' });
  });

  it('charges in full what was used of the monthly limit, also of somebody who pauses early', () => {
    const early = { ...star, daily: 1_000_000, monthly: 10_000_000, fromDay: '2026-04-01', toDay: '2026-04-10' };
    const pause = { ...early, isActive: false, fromDay: '2026-04-10', toDay: '9999-12-31' };
    const after = (units: number, terms = [early, pause]) => {
      const { lines, totals } = computeStatement('2026-04', terms, [used('2026-04-02', units)]);
      return [...lines.map(({ plan, days, amount, surcharge }) => [plan, days, amount, surcharge]), totals[0]?.amount];
    };
    expect(after(10_000_000)).toEqual([['Star', 10, '499.00', '332.67'], '499.00']);
    expect(after(11_000_000)).toEqual([['Star', 10, '499.00', '332.67'], '499.00']);
    expect(after(5_000_000)).toEqual([['Star', 10, '249.50', '83.17'], '249.50']);
    expect(after(3_333_333)).toEqual([['Star', 10, '166.33', '0.00'], '166.33']);
    const toBase = { ...base, fromDay: '2026-04-11' };
    expect(after(10_000_000, [early, toBase])).toEqual([['Star', 10, '499.00', '332.67'], [null, 20, '0.00', '0.00'], '499.00']);
    // Together they cost the dearest plan at the most.
    const up = { ...early, plan: 'Gold', price: '999.00', fromDay: '2026-04-11', toDay: '9999-12-31' };
    expect(after(10_000_000, [early, up])).toEqual([['Star', 10, '333.00', '166.67'], ['Gold', 20, '666.00', '0.00'], '999.00']);
  });

  it('charges nothing more for use that the days pay for, in a month of any length', () => {
    for (const month of ['2026-02', '2026-03', '2026-04']) {
      const terms = [{ ...star, fromDay: `${month}-01`, toDay: `${month}-10` }];
      const use = daysOfMonth(month).map((day) => used(day, day <= `${month}-10` ? star.daily : 0));
      expect(computeStatement(month, terms, use).lines.map(({ surcharge }) => surcharge)).toEqual(['0.00']);
    }
  });

  describe('of a plan that sells use above its limits', () => {
    const overage = { per: 1_000, price: '20.00', cap: { daily: 1_000, monthly: 10_000 } };
    const gold: SubscriptionTerm = { ...star, plan: 'Gold', price: '49.00', currency: 'EUR', daily: 100, monthly: 2_500, overage };
    const days = (...units: number[]) => units.map((each, index) => used(`2026-04-${String(index + 1).padStart(2, '0')}`, each));
    const about = (terms: SubscriptionTerm[], use: StatementUse[]) =>
      computeStatement('2026-04', terms, use).lines.map(({ overage: above, surcharge, amount }) => [
        above?.units,
        above?.amount,
        surcharge,
        amount,
      ]);

    it.each([
      ['nothing within them', days(100, 0, 80), 0, '0.00'],
      ['what is above the day’s', days(150, 80, 101), 51, '1.02'],
      ['what is above the month’s', days(...Array.from({ length: 27 }, () => 100)), 200, '4.00'],
      ['each unit once where both are', days(1_000, ...Array.from({ length: 26 }, () => 100)), 1_100, '22.00'],
      ['nothing that was given back', [used('2026-04-01', 150, 30), used('2026-04-02', 100, 100)], 20, '0.40'],
    ])('charges %s', (_what, use, units, amount) => {
      const whole = (49 + Number(amount)).toFixed(2);
      expect(about([gold], use)).toEqual([[units, amount, '0.00', whole]]);
    });

    it('includes no month twice for who changes the plan, and charges nothing as surcharge that is charged as overage', () => {
      const first = { ...gold, monthly: 3_000, toDay: '2026-04-05' };
      const second = { ...first, plan: 'Gold II', price: '59.00', daily: 1_000, fromDay: '2026-04-06', toDay: '9999-12-31' };
      // 500, then 1,000 and 1,000 and 500, are all that 3,000 a month include.
      expect(about([first, second], days(100, 100, 100, 100, 100, 1_000, 1_000, 1_000))).toEqual([
        [0, '0.00', '0.00', '8.17'],
        [500, '10.00', '0.00', '59.16'],
      ]);
    });

    it.each([
      ['4990 JPY', '20', 125, '3'],
      ['4990 JPY', '20', 124, '2'],
      ['49.00 INR', '0.01', 500, '0.01'],
      ['4.990 KWD', '0.250', 700, '0.180'],
      ['4.990 KWD', '0.001', 4_999_999, '5.000'],
    ])('rounds half up to what can be paid: a plan for %s, %s for 1,000, %d units', (plan, above, units, amount) => {
      const [price = '', currency = ''] = plan.split(' ');
      const term = { ...gold, price, currency, overage: { ...overage, price: above } };
      expect(about([term], days(100 + units))).toEqual([[units, amount, expect.any(String), expect.any(String)]]);
    });

    it('charges by the plan that let it through, also on days that cost a dearer plan without overage', () => {
      const open = { ...gold, monthly: 3_000, overage: { ...overage, cap: { daily: 1_100, monthly: 40_000 } } };
      const dearer = { ...gold, plan: 'Pro', price: '59.00', monthly: 3_000, overage: null };
      const use = days(...Array.from({ length: 20 }, () => 1_100));
      const [alone, both] = [[open], [dearer, open]].map((terms) => computeStatement('2026-04', terms, use));
      expect(alone?.totals).toEqual([{ currency: 'EUR', amount: '449.00' }]);
      expect(both?.totals).toEqual([{ currency: 'EUR', amount: '459.00' }]);
      expect(both?.lines).toMatchObject([
        { plan: 'Pro', days: 30, used: 2_000, requests: 22_000, surcharge: '0.00', amount: '59.00', overage: null },
        { plan: 'Gold', days: 0, used: 20_000, requests: 0, surcharge: '0.00', amount: '400.00', overage: { units: 20_000 } },
      ]);
    });

    it('charges the dearest plan first, and the next one above its cap', () => {
      const wide = { ...gold, plan: 'Wide', price: '19.00', overage: { per: 1, price: '0.01', cap: { daily: 5_000, monthly: 50_000 } } };
      expect(about([wide, gold], days(1_500))).toEqual([
        [900, '18.00', '0.00', '67.00'],
        [500, '5.00', '0.00', '5.00'],
      ]);
    });

    it('rounds what many plans sold once', () => {
      const held = daysOfMonth('2026-04').map((day, index) => {
        return { ...gold, plan: `Gold ${index}`, overage: { ...overage, price: '5.00' }, fromDay: day, toDay: day };
      });
      const { lines, totals } = computeStatement('2026-04', held, days(...Array.from({ length: 25 }, () => 101)));
      const sold = lines.map(({ overage: above }) => Math.round(Number(above?.amount) * 100));
      expect(sold.reduce((sum, each) => sum + each, 0)).toBe(13);
      expect(totals).toEqual([{ currency: 'EUR', amount: '49.13' }]);
    });

    it('costs no less than the cheapest honest way to the same use, and no more than the dearest plan held with its overage, in any history', () => {
      fc.assert(fc.property(statedHistories, expectHonestStatement), { numRuns: propertyRuns(200) });
    });

    it('charges what a plan without it would have refused, whatever is used', () => {
      fc.assert(
        fc.property(fc.array(fc.nat(300), { maxLength: 30 }), (units) => {
          let [left, refused] = [gold.monthly, 0];
          for (const each of units) {
            const admitted = Math.min(each, gold.daily, left);
            left -= admitted;
            refused += each - admitted;
          }
          expect(about([gold], days(...units))[0]?.[0]).toBe(refused);
        }),
      );
    });
  });

  it.each([
    ['two plans of one price, half a month each', '9.99 EUR', 2, '9.99'],
    ['a plan a day', '0.50 EUR', 30, '0.50'],
    ['two plans of a currency without decimals', '999 JPY', 2, '999'],
    ['three plans of a currency with three', '4.990 KWD', 3, '4.990'],
    ['many cheap plans', '0.01 EUR', 15, '0.01'],
  ])('costs a month of its plans at most, and no less: %s', (_what, plan, count, amount) => {
    const [price = '', currency = ''] = plan.split(' ');
    const days = daysOfMonth('2026-04');
    const each = days.length / count;
    const terms = Array.from({ length: count }, (_, index): SubscriptionTerm => {
      const held = days.slice(index * each, (index + 1) * each);
      return { ...star, plan: `Plan ${index}`, price, currency, fromDay: held[0] ?? '', toDay: held.at(-1) ?? '' };
    });
    expect(computeStatement('2026-04', terms, []).totals).toEqual([{ currency, amount }]);
  });

  it('rounds half up to the hundredth', () => {
    expect(shareOfPrice({ price: '0.01', currency: 'INR' }, 15, 30)).toBe('0.01');
    expect(shareOfPrice({ price: '0.01', currency: 'INR' }, 14, 30)).toBe('0.00');
    expect(shareOfPrice({ price: '9999999999.99', currency: 'INR' }, 31, 31)).toBe('9999999999.99');
  });

  it('has every unit of a known day in exactly one line, and never costs more than the dearest plan', () => {
    const day = fc.integer({ min: 1, max: 28 });
    const term = fc.record({
      length: fc.integer({ min: 0, max: 9 }),
      price: fc.constantFrom('0.00', '9.99', '499.00'),
      // Several lines of one price.
      plan: fc.constantFrom('Star', 'Moon', 'Sun'),
      isActive: fc.boolean(),
      isPaidInAdvance: fc.boolean(),
    });
    const use = fc.array(fc.record({ day, charged: fc.nat(1_000), refunded: fc.nat(1_000), test: fc.nat(1_000) }), { maxLength: 40 });
    fc.assert(
      fc.property(fc.array(term, { minLength: 1, maxLength: 8 }), use, (lengths, drawn) => {
        const at = (index: number): string => `2026-02-${String(Math.min(28, index)).padStart(2, '0')}`;
        let from = 1;
        const terms = lengths.map(({ length, price, plan, isActive, isPaidInAdvance }, index): SubscriptionTerm => {
          const fromDay = at(from);
          from += length;
          return {
            ...star,
            price,
            plan,
            isActive,
            isPaidInAdvance,
            fromDay,
            toDay: index === lengths.length - 1 ? '9999-12-31' : at(from),
          };
        });
        const byDay = new Map(
          drawn.map((each) => [each.day, { ...used(at(each.day), each.charged, Math.min(each.refunded, each.charged), each.test) }]),
        );
        const { lines, totals } = computeStatement('2026-02', terms, [...byDay.values()]);
        for (const member of ['charged', 'refunded', 'test'] as const) {
          const counted = [...byDay.values()].reduce((sum, each) => sum + each[member], 0);
          expect(lines.reduce((sum, line) => sum + line[member], 0)).toBe(counted);
        }
        expect(lines.reduce((sum, line) => sum + line.days, 0)).toBeLessThanOrEqual(daysOfMonth('2026-02').length);
        const dearest = Math.max(0, ...lines.map(({ price }) => Math.round(Number(price) * 100)));
        const amount = Math.round(Number(totals[0]?.amount ?? 0) * 100);
        expect(amount).toBeLessThanOrEqual(dearest);
        // Nor less than what its days cost, rounded once.
        const due = lines.filter(({ isPaidInAdvance }) => !isPaidInAdvance);
        const exact = due.reduce((sum, line) => sum + Math.round(Number(line.price) * 100) * line.days, 0);
        expect(amount).toBeGreaterThanOrEqual(Math.floor(exact / 28 + 0.5));
      }),
    );
  });
});
