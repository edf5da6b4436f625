import { fc } from './fast-check';

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

const PLAIN = [...'abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~'];
const percentEncoded = fc.string({ unit: fc.oneof(fc.constantFrom(...PLAIN), anyCharacter.map(encodeURIComponent)) });

/** A URL as `fc.webUrl()` makes it, without that table. */
export const anyWebUrl: fc.Arbitrary<string> = fc
  .tuple(fc.constantFrom('http', 'https'), fc.webAuthority(), fc.array(percentEncoded))
  .map(([scheme, authority, segments]) => `${scheme}://${authority}${segments.map((segment) => `/${segment}`).join('')}`);

/** Query parameters as `fc.webQueryParameters()` makes them, without that table. */
export const anyWebQuery: fc.Arbitrary<string> = fc
  .array(fc.tuple(percentEncoded, fc.option(percentEncoded, { nil: undefined })))
  .map((pairs) => pairs.map(([name, value]) => (value === undefined ? name : `${name}=${value}`)).join('&'));
