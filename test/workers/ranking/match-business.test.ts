import { foldName } from '../../../services/workers/ranking/fold-name';
import { matchBusiness } from '../../../services/workers/ranking/match-business';
import { placeNamed } from './places';
import { fc, propertyRuns } from '../../support/fast-check';

const match = (wanted: string, ...names: string[]) =>
  matchBusiness(
    names.map((name, index) => placeNamed(name, { placeId: `p${index}` })),
    { name: wanted },
  );
const letters = [...'abkxyzäöüéßñσςαжщ123', 'कि', 'ನ', '東', 'Ａ', 'ﬁ'];
const word = fc.string({ unit: fc.constantFrom(...letters), minLength: 1, maxLength: 8 });
const words = fc.array(word, { minLength: 1, maxLength: 6 });
const separator = fc.constantFrom(' ', '  ', ' - ', ', ', ' & ', '. ', ' / ', '\t', '–', ' (', ') ');
const edge = fc.constantFrom('', '"', '!', ' ', '(', '.', '™');
const casing = fc.constantFrom(
  (text: string) => text,
  (text: string) => text.toUpperCase(),
  (text: string) => text.toLowerCase(),
);
const suffix = fc.constantFrom('', ' Pvt. Ltd.', ' PRIVATE LIMITED', ', Inc.', ' LLC', ' L.L.P.', ' llp');

describe('a name', () => {
  it('matches itself in any case, with any punctuation and any company suffix', () => {
    fc.assert(
      fc.property(words, separator, fc.tuple(edge, edge, suffix), casing, (parts, between, [before, after, legal], cased) => {
        const plain = parts.join(' ');
        const dressed = cased(before + parts.join(between) + legal + after);
        expect(match(plain, dressed)).toMatchObject({ kind: 'found', method: 'name_exact', score: 1 });
        expect(match(dressed, plain)).toMatchObject({ kind: 'found', method: 'name_exact', score: 1 });
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  it.each([
    ["McDonald's", 'McDonalds'],
    ['ＡＢＣ Store', 'abc store'],
    ['Straße 7 Café', 'STRASSE 7 CAFÉ'],
    ['Vitamin A L. L. C.', 'Vitamin A'],
    ['Acme Private Ltd. Inc', 'Acme'],
  ])('%s is %s', (one, other) => expect(foldName(one).key).toBe(foldName(other).key));

  it.each([
    ['Inc', 'Ltd'],
    ['The Limited Store', 'The Store'],
    ['Cafe', 'Café'],
  ])('%j is not %j', (one, other) => expect(match(one, other)).toEqual({ kind: 'none' }));

  it('of punctuation alone still matches itself', () => expect(match('!!!', '! ! !')).toMatchObject({ method: 'name_exact' }));
});

describe('the match', () => {
  const seven = 'one two three four five six seven';
  it('prefers the id to the name, and falls back to the name', () => {
    const places = [placeNamed('Acme', { placeId: 'a' }), placeNamed('Other', { placeId: 'b' })];
    expect(matchBusiness(places, { name: 'Acme', placeId: 'b' })).toMatchObject({ index: 1, method: 'place_id' });
    expect(matchBusiness(places, { name: 'Acme', placeId: 'z' })).toMatchObject({ index: 0, method: 'name_exact' });
    expect(matchBusiness(places, { placeId: 'z' })).toEqual({ kind: 'none' });
  });

  it('prefers the same name to a similar one that ranks higher', () => {
    expect(match(seven, `${seven} eight`, seven)).toMatchObject({ index: 1, method: 'name_exact' });
  });

  it('takes similar words in any order from a coefficient of 0.85', () => {
    expect(match('two one', 'One Two')).toMatchObject({ method: 'name_similar', score: 1 });
    expect(match(seven, 'one two three four five six else')).toMatchObject({ method: 'name_similar', score: 12 / 14 });
    expect(match('a1 b1 c1 d1 e1 f1', 'a1 b1 c1 d1 e1 x1')).toEqual({ kind: 'none' });
  });

  it('takes no similar name that leads by less than 0.05, and one that leads by just that', () => {
    const nineteen = Array.from({ length: 19 }, (_, index) => `w${index}`);
    // 36/38 against 34/37: a lead of 0.028.
    const close = match(nineteen.join(' '), [...nineteen.slice(0, 18), 'x'].join(' '), nineteen.slice(0, 17).concat('y').join(' '));
    expect(close).toMatchObject({ kind: 'ambiguous', candidates: [{ index: 0 }, { index: 1 }] });
    // 38/40 against 36/40: 0.95 and 0.90, whose difference is a little less than 0.05 in binary.
    const twenty = [...nineteen, 'w19'];
    const apart = match(twenty.join(' '), [...twenty.slice(0, 18), 'xx', 'yy'].join(' '), [...twenty.slice(0, 19), 'zz'].join(' '));
    expect(apart).toMatchObject({ kind: 'found', index: 1, score: 0.95 });
  });

  it('of twins is the one that ranks first, with both as candidates', () => {
    const twins = { kind: 'found', index: 1, method: 'name_exact', candidates: [{ index: 1 }, { index: 2 }] };
    expect(match('twin', 'Other', 'Twin', 'TWIN')).toMatchObject(twins);
  });
});
