import { includedNow } from '../../../services/selling/statements/included-use';
import { type StatementUse, type SubscriptionTerm } from '../../../services/selling/statements/statement';

const ANY = 1_000_000;
const small: SubscriptionTerm = {
  subscriptionId: 'one',
  product: 'api-ip',
  plan: 'Small',
  price: '1.00',
  currency: 'INR',
  daily: 5,
  monthly: 50,
  overage: { per: 10, price: '20.00', cap: { daily: 200, monthly: 2_000 } },
  isActive: true,
  isPaidInAdvance: false,
  fromDay: '2026-03-01',
  toDay: '9999-12-31',
};
const mega: SubscriptionTerm = { ...small, plan: 'Mega', price: '9.00', daily: 400, monthly: 900, overage: null };
const none: SubscriptionTerm = { ...small, plan: 'Free', price: '0.00', daily: 5, monthly: 50, overage: null };
const used = (day: string, charged: number): StatementUse => ({
  subscriptionId: 'one',
  day,
  charged,
  refunded: 0,
  test: 0,
  requests: charged,
});
const standing = (terms: SubscriptionTerm[], use: StatementUse[], limits = { daily: ANY, monthly: ANY }) => {
  const { today, thisMonth } = includedNow({ terms, use, today: '2026-03-14', limits });
  return [today.included, today.above, thisMonth.included, thisMonth.above];
};
const until13 = { toDay: '2026-03-13' };
const from14 = { fromDay: '2026-03-14' };
const MUCH = [used('2026-03-12', 400), used('2026-03-13', 400)];

it('calls nothing above that an earlier plan of the month included, and includes nothing more once that is used', () => {
  expect(
    standing(
      [
        { ...mega, ...until13 },
        { ...small, ...from14 },
      ],
      MUCH,
    ),
  ).toEqual([0, 0, 800, 0]);
  expect(
    standing(
      [
        { ...mega, ...until13 },
        { ...small, ...from14 },
      ],
      [...MUCH, used('2026-03-14', 7)],
    ),
  ).toEqual([0, 7, 800, 7]);
});

it('counts what a smaller plan sold before a larger one began', () => {
  const terms = [
    { ...small, ...until13 },
    { ...mega, ...from14 },
  ];
  expect(standing(terms, [used('2026-03-12', 100), used('2026-03-14', 30)])).toEqual([400, 0, 900, 95]);
});

it('includes on the day of a change what the best of its plans does', () => {
  const terms = [
    { ...mega, toDay: '2026-03-14' },
    { ...small, ...from14 },
  ];
  expect(standing(terms, [used('2026-03-14', 300)])).toEqual([400, 0, 900, 0]);
  expect(standing(terms, [used('2026-03-14', 410)])).toEqual([400, 10, 900, 10]);
});

it('counts a day above its limit though the month has room, and a month above its limit though the day has', () => {
  expect(standing([small], [used('2026-03-14', 17)])).toEqual([5, 12, 50, 12]);
  const month = Array.from({ length: 12 }, (_, index) => used(`2026-03-${String(index + 1).padStart(2, '0')}`, 5));
  expect(standing([small], [...month, used('2026-03-14', 3)])).toEqual([0, 3, 50, 13]);
});

it('calls nothing above that no plan sells, nor more included than is let through', () => {
  expect(
    standing(
      [
        { ...none, ...until13 },
        { ...small, ...from14 },
      ],
      [used('2026-03-12', 9)],
    ),
  ).toEqual([5, 0, 50, 0]);
  expect(standing([mega], [used('2026-03-14', 2)], { daily: 3, monthly: 30 })).toEqual([3, 0, 30, 0]);
});

it('counts no day twice, nor a pause as the end of what is included', () => {
  const pause = { ...small, isActive: false, fromDay: '2026-03-10', toDay: '2026-03-13' };
  const terms = [{ ...small, toDay: '2026-03-10' }, pause, { ...small, fromDay: '2026-03-13' }];
  expect(standing(terms, [used('2026-03-10', 9), used('2026-03-13', 9), used('2026-03-14', 1)])).toEqual([5, 0, 50, 8]);
});
