import fc from 'fast-check';

const SURROGATES_FROM = 0xd800;
const SURROGATES = 0x800;
const CHARACTERS = 0x110000 - SURROGATES;

/**
 * Any character of Unicode, as the `unit` of `fc.string`. fast-check's own `unit: 'binary'` has the same characters, but builds a table of
 * all million of them: a second of each test file that uses it.
 */
export const anyCharacter: fc.Arbitrary<string> = fc.nat(CHARACTERS - 1).map(
  (index) => String.fromCodePoint(index < SURROGATES_FROM ? index : index + SURROGATES),
  (character) => {
    const point = typeof character === 'string' ? character.codePointAt(0) : undefined;
    if (point === undefined || character !== String.fromCodePoint(point)) throw new Error('not one character');
    if (point >= SURROGATES_FROM && point < SURROGATES_FROM + SURROGATES) throw new Error('half a character');
    return point < SURROGATES_FROM ? point : point - SURROGATES;
  },
);
