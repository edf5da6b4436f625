import { decimalsOf, fitsDecimals, fromMinor, shareOf, toMinor, toSafeNumber } from '../../../plugins/core/catalogue/money';
import { fc } from '../../support/fast-check';

const currency = fc.constantFrom('INR', 'EUR', 'JPY', 'KWD', 'CLF', 'XAF');

describe('an amount of money', () => {
  it('has the decimals of ISO 4217', () => {
    expect(['INR', 'USD', 'JPY', 'KRW', 'KWD', 'TND', 'CLF', null].map(decimalsOf)).toEqual([2, 2, 0, 0, 3, 3, 4, 2]);
  });

  it('reads as it was written, in every currency', () => {
    fc.assert(
      fc.property(fc.bigInt(0n, 10n ** 15n), currency, (amount, code) => {
        const text = fromMinor(amount, code);
        expect(text.split('.')[1]?.length ?? 0).toBe(decimalsOf(code));
        expect(toMinor(text, code)).toBe(amount);
        expect(fitsDecimals(text, code)).toBe(true);
      }),
    );
    expect([fromMinor(-9_500, 'KWD'), fromMinor(5, 'INR'), fromMinor(999, 'JPY')]).toEqual(['-9.500', '0.05', '999']);
  });

  it('rounds what its currency cannot hold half up, and says that it cannot', () => {
    expect([toMinor('10.49', 'JPY'), toMinor('10.50', 'JPY'), toMinor('1.0005', 'KWD')]).toEqual([10n, 11n, 1_001n]);
    expect([fitsDecimals('10.50', 'JPY'), fitsDecimals('10.00', 'JPY'), fitsDecimals('1.0005', 'KWD')]).toEqual([false, true, false]);
  });

  it.each(['', '-1', '1e3', 'NaN', '1,000', ' 1'])('is not %p', (text) => {
    expect(() => toMinor(text, 'INR')).toThrow(RangeError);
  });

  it('is shared out without losing or inventing a unit, rounded half up', () => {
    expect([shareOf(1n, 1n, 2n), shareOf(1n, 49n, 100n), shareOf(99_900n, 10n, 31n)]).toEqual([1n, 0n, 32_226n]);
    expect(() => toSafeNumber(2n ** 53n)).toThrow(RangeError);
  });
});
