import { WORLD_COUNTRIES } from '../../../services/products/pincode/settings';
import { parseIndianPin, parseWorldCode } from '../../../services/products/pincode/parse-pin';
import { fc } from '../../support/fast-check';

describe('an Indian pin', () => {
  it.each([
    ['110001', '110001'],
    [' 560001 ', '560001'],
  ])('%j is the PIN %s', (pin, text) => expect(parseIndianPin(pin)).toEqual({ ok: true, query: { kind: 'pin', text } }));

  it.each([
    ['Connaught Place', 'Connaught Place'],
    ['नई दिल्ली', 'नई दिल्ली'],
    ['a/../b', 'a/../b'],
  ])('%j is the name of a post office', (pin, text) => {
    expect(parseIndianPin(pin)).toEqual({ ok: true, query: { kind: 'office', text } });
  });

  it.each(['11000', '012345', '11 00 01', '   ', '..', 'x'.repeat(101), 'a\u0000b', '\ud800a'])('%j is refused', (pin) => {
    expect(parseIndianPin(pin).ok).toBe(false);
  });
});

describe('a postal code of another country', () => {
  it.each([
    ['US', '90210', '90210'],
    ['CA', 'K1A 0B1', 'K1A'],
    ['GB', 'SW1A1AA', 'SW1A'],
    ['GB', 'M11AE', 'M1'],
    ['NL', '1012  AB', '1012 AB'],
  ])('of %s: %j is asked as %s', (country, pin, text) => {
    expect(parseWorldCode(country, pin)).toEqual({ ok: true, query: { kind: 'code', country, text } });
  });

  it.each(['..', ' ', 'a/b', '12345678901234567', 'ü123'])('%j is refused', (pin) => {
    expect(parseWorldCode('US', pin).ok).toBe(false);
  });

  it('never yields a path that climbs or a part that is empty', () => {
    fc.assert(
      fc.property(fc.constantFrom(...WORLD_COUNTRIES), fc.string({ maxLength: 20 }), (country, pin) => {
        const parsed = parseWorldCode(country, pin);
        return !parsed.ok || /^[A-Z0-9][A-Z0-9 -]*$|^[ -]*[A-Z0-9]/i.test(parsed.query.text);
      }),
    );
  });
});
