import { fc } from '../../support/fast-check';
import { expectHonestStatement, statedHistories } from '../../selling/statements/honest-statements';
import { payHonestly } from '../support/honest-payer';

const HISTORIES = 5_000;

describe('5,000 histories of plans, use, own prices, discounts, pauses and cancellations', () => {
  it.each(['stripe', 'razorpay'] as const)(
    'cost no less than the cheapest honest way to the same use, and no more than the dearest plan held (%s)',
    (provider) => payHonestly(provider, HISTORIES),
    1_800_000,
  );

  it('cost no less than the cheapest honest way to the same use, and no more than the dearest plan held (none, invoice)', () => {
    fc.assert(fc.property(statedHistories, expectHonestStatement), { numRuns: HISTORIES });
  }, 600_000);
});
