import { payHonestly } from '../support/pay-honestly';

describe('any history of plans, use, discounts, pauses and cancellations', () => {
  it.each(['stripe', 'razorpay'] as const)(
    'costs no less than the cheapest honest way to the same use, and no more than the dearest plan held (%s)',
    (provider) => payHonestly(provider, 200),
  );
});
