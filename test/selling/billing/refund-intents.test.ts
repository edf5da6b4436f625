import fc from 'fast-check';
import { decideRefund } from '../../../services/selling/billing/refund-intents';

describe('a refund', () => {
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
