import { isAadhaarNumber, passesVerhoeff } from '../../../services/products/aadhaar/aadhaar-number';
import { fc } from '../../support/fast-check';

it('accepts the registry’s test number', () => {
  expect(isAadhaarNumber('999999990019')).toBe(true);
});

it.each([
  ['a wrong check digit', '999999990018'],
  ['a first digit 0', '099999990019'],
  ['eleven digits', '99999999001'],
  ['spaces', '9999 9999 0019'],
  ['a new line', '999999990019\n'],
  ['digits of another script', '९९९९९९९९००१९'],
])('refuses %s', (_what, text) => {
  expect(isAadhaarNumber(text)).toBe(false);
});

it('Verhoeff’s published example passes: 2363', () => {
  expect(passesVerhoeff('2363')).toBe(true);
});

it('one check digit fits, and every single wrong digit and every swap of neighbours is noticed', () => {
  const digits = fc.array(fc.nat(9), { minLength: 11, maxLength: 11 });
  fc.assert(
    fc.property(digits, fc.nat(11), fc.nat(9), (given, position, other) => {
      const fitting = [...'0123456789'].filter((check) => passesVerhoeff(given.join('') + check));
      expect(fitting).toHaveLength(1);
      const number = [...given, Number(fitting[0])];
      const changed = number.with(position, other);
      expect(passesVerhoeff(changed.join(''))).toBe(number[position] === other);
      const next = (position + 1) % 12;
      if (next === 0 || number[position] === number[next]) return;
      const swapped = number.with(position, number[next] ?? 0).with(next, number[position] ?? 0);
      expect(passesVerhoeff(swapped.join(''))).toBe(false);
    }),
  );
});
