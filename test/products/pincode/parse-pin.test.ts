import { WORLD_COUNTRIES } from '../../../services/products/pincode/settings';
import { parseIndianPin, parseWorldCode } from '../../../services/products/pincode/parse-pin';
import { fc } from '../../support/fast-check';

describe('an Indian pin', () => {
  it.each([
    ['110001', '110001'],
    ['110 001', '110001'],
    [' 560001 ', '560001'],
    ['999999', '999999'],
  ])('%j is the PIN %s', (pin, text) => expect(parseIndianPin(pin)).toEqual({ ok: true, query: { kind: 'pin', text } }));

  it.each([
    ['Connaught Place', 'Connaught Place'],
    ['Sector 17', 'Sector 17'],
    ['नई दिल्ली', 'नई दिल्ली'],
    ['a/../b', 'a/../b'],
  ])('%j is the name of a post office', (pin, text) => {
    expect(parseIndianPin(pin)).toEqual({ ok: true, query: { kind: 'office', text } });
  });

  it.each(['11000', '1100011', '012345', '11 00 01', '1', '', '   ', '..', '--', 'x'.repeat(101), 'a\u0000b', '\ud800a'])(
    '%j is refused',
    (pin) => {
      expect(parseIndianPin(pin).ok).toBe(false);
    },
  );
});

describe('a postal code of another country', () => {
  it.each([
    ['US', '90210', '90210'],
    ['CA', 'K1A 0B1', 'K1A'],
    ['IE', 'D02 X285', 'D02'],
    ['MT', 'VLT 1117', 'VLT'],
    ['CL', '8320000', '832'],
    ['AR', 'C1425CLA', 'C1425'],
    ['GB', 'SW1A 1AA', 'SW1A'],
    ['GB', 'SW1A1AA', 'SW1A'],
    ['GB', 'M1 1AE', 'M1'],
    ['GB', 'M11AE', 'M1'],
    ['GB', 'B33 8TH', 'B33'],
    ['GB', 'M1', 'M1'],
    ['JE', 'JE2 3AB', 'JE2'],
    ['NL', '1012  AB', '1012 AB'],
    ['JP', '100-0001', '100-0001'],
  ])('of %s: %j is asked as %s', (country, pin, text) => {
    expect(parseWorldCode(country, pin)).toEqual({ ok: true, query: { kind: 'code', country, text } });
  });

  it.each(['..', '-', ' ', 'a/b', '12345678901234567', 'ü123', "1' OR", '%2e'])('%j is refused', (pin) => {
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
