import { gstinCheckCharacter, isGstinShape } from '../../../services/products/gst/gstin';
import { fc } from '../../support/fast-check';

const VALID = ['27AAACR5055K1Z7', '27AAPFU0939F1ZV', '33AAAGM0289C1DZ', '9917USA29016OS6', '2317UNO00001UND'];
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ';

it.each(VALID)('%s, a published number, has valid form and check character', (number) => {
  expect([isGstinShape(number), gstinCheckCharacter(number)]).toEqual([true, number.charAt(14)]);
});

it.each([
  ['too long', '27AAACR5055K1Z77'],
  ['in small letters', '27aaacr5055k1z7'],
  ['with a letter in the state code', '2AAAACR5055K1Z7'],
  ['with entity 0', '27AAACR5055K0Z7'],
  ['with a new line', '27AAACR5055K1Z7\n'],
])('refuses a number %s', (_what, number) => {
  expect(isGstinShape(number)).toBe(false);
});

it('a changed character is noticed by the check character', () => {
  const character = fc.constantFrom(...ALPHABET);
  fc.assert(
    fc.property(fc.array(character, { minLength: 14, maxLength: 14 }), fc.nat(13), character, (characters, position, other) => {
      const number = characters.join('');
      const changed = characters.with(position, other).join('');
      expect(gstinCheckCharacter(changed) === gstinCheckCharacter(number)).toBe(changed === number);
    }),
  );
});
