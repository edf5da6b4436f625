import { type Place } from '../../../services/workers/ranking/place';
import { positionBody, rankPlaces, searchBody, withoutRepeats } from '../../../services/workers/ranking/rank-places';
import { type RankQuery } from '../../../services/workers/ranking/ranking-upstream';
import { placeNamed } from './places';
import { fc, propertyRuns } from '../../support/fast-check';
import { matchBusiness, foldName } from '../../../services/workers/ranking/match-business';
import { type Coordinates, distanceKm } from '../../../services/workers/ranking/distance';
import { isInTile, tilesOf } from '../../../services/workers/ranking/tiles';
import { socialsOf } from '../../../services/workers/ranking/collect-leads';

describe('the ranking', () => {
  const center = { latitude: 12.9716, longitude: 77.5946 };
  const facts = { sourceFacts: { source: 'google_places', source_note: null }, fetchedAt: '2026-03-14 09:26:53', truncated: false };
  const queryFor = (businessName: string, changes: Partial<RankQuery> = {}): RankQuery => ({
    keyword: 'dentist',
    center,
    radiusKm: 5,
    maxResults: 60,
    businessName,
    ...changes,
  });

  const names = ['Lotus', 'Lotus Clinic', 'Clinic of Lotus', 'Orchid', 'ORCHID Pvt Ltd', 'Neem', 'Cedar Books', 'Coral', 'Twin', 'Twin'];
  const places: fc.Arbitrary<Place[]> = fc
    .array(
      fc.record({
        name: fc.constantFrom(...names),
        latitude: fc.option(fc.double({ min: 12.8, max: 13.2, noNaN: true })),
        longitude: fc.double({ min: 77.4, max: 77.8, noNaN: true }),
      }),
      { minLength: 1, maxLength: 60 },
    )
    .map((list) => list.map(({ name, ...location }, index) => placeNamed(name, { ...location, placeId: `p${index}` })));
  const radius = fc.double({ min: 0.001, max: 50, noNaN: true });

  describe('a position', () => {
    it('does not depend on the radius, nor on anything that ranks below the match', () => {
      fc.assert(
        fc.property(places, fc.constantFrom(...names), fc.tuple(radius, radius), fc.nat(59), (list, wanted, [radiusKm, otherKm], more) => {
          const position = (checked: readonly Place[], km: number) =>
            positionBody(checked, queryFor(wanted, { radiusKm: km }), facts)['position'];
          const found = position(list, radiusKm);
          expect(position(list, otherKm)).toBe(found);
          // Every name is spelled out in the list or not there at all, so that every match is one of the same name.
          if (typeof found !== 'number') return;
          expect(position(list.slice(0, found + more), otherKm)).toBe(found);
          expect(position(list.slice(0, found - 1), radiusKm)).toBeNull();
        }),
        { numRuns: propertyRuns(500) },
      );
    });

    it('of a similar name stays as long as no other similar name follows', () => {
      const wanted = 'one two three four five six seven';
      fc.assert(
        fc.property(places, places, fc.nat(60), (above, below, more) => {
          const list = [...above, placeNamed('six five four three two one', { placeId: 'similar' }), ...below];
          const body = positionBody(list.slice(0, above.length + 1 + more), queryFor(wanted), facts);
          expect(body).toMatchObject({ position: above.length + 1, match: { method: 'name_similar', score: 0.923 } });
        }),
      );
    });

    it('in the radius counts the places above that lie within it', () => {
      fc.assert(
        fc.property(places, radius, (list, radiusKm) => {
          const last = list.at(-1);
          const query = queryFor('', { radiusKm, businessName: undefined, placeId: last?.placeId });
          const searched = searchBody(list, query, facts) as { results: { in_radius: boolean; distance_km: number | null }[] };
          for (const { in_radius, distance_km } of searched.results)
            expect(in_radius).toBe(distance_km !== null && distance_km <= radiusKm);
          const named = [...list.slice(0, -1), placeNamed('Wanted One', { ...last, name: 'Wanted One' })];
          const body = positionBody(named, queryFor('wanted one', { radiusKm }), facts);
          const within = searched.results.filter(({ in_radius }) => in_radius).length;
          expect(body).toMatchObject({ position: list.length, position_in_radius: searched.results.at(-1)?.in_radius ? within : null });
        }),
      );
    });

    it('names everybody who ranks above, in order', () => {
      fc.assert(
        fc.property(places, (list) => {
          const body = positionBody([...list, placeNamed('Wanted One')], queryFor('WANTED-ONE'), facts);
          const above = body['competitors_above'] as { place_id: string; position: number }[];
          expect(above.map(({ place_id }) => place_id)).toEqual(list.map(({ placeId }) => placeId));
          expect(above.map(({ position }) => position)).toEqual(list.map((_, index) => index + 1));
        }),
      );
    });
  });

  describe('a ranked list', () => {
    it('marks a place without a location as outside, without a distance', () => {
      expect(rankPlaces([placeNamed('x')], { center, radiusKm: 50 })).toMatchObject([{ distanceKm: null, inRadius: false }]);
    });

    it('holds a place that two pages repeat once, where it came first', () => {
      const [a, b] = [placeNamed('a'), placeNamed('b')];
      expect(withoutRepeats([a, b, a, a])).toEqual([a, b]);
    });
  });
});

describe('the business', () => {
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
});

describe('the distance', () => {
  const point: fc.Arbitrary<Coordinates> = fc.record({
    latitude: fc.double({ min: -90, max: 90, noNaN: true }),
    longitude: fc.double({ min: -180, max: 180, noNaN: true }),
  });

  /** The angle between two unit vectors: another formula for the same arc. */
  function arcByVectors(from: Coordinates, to: Coordinates): number {
    const vector = ({ latitude, longitude }: Coordinates): [number, number, number] => {
      const [phi, lambda] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
      return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
    };
    const [a, b] = [vector(from), vector(to)];
    const cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
    const dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
    return 6371.0088 * Math.atan2(Math.hypot(...cross), dot);
  }

  /** A millimetre, in kilometres; near the antipode the haversine itself loses this much. */
  const FINE = 1e-3;

  describe('the distance', () => {
    it('agrees with the angle between vectors, is the same both ways, and is zero to itself', () => {
      fc.assert(
        fc.property(point, point, (one, other) => {
          expect([distanceKm(one, one), distanceKm(other, one)]).toEqual([0, distanceKm(one, other)]);
          expect(Math.abs(distanceKm(one, other) - arcByVectors(one, other))).toBeLessThan(FINE);
        }),
      );
    });

    it.each([
      [{ latitude: 0, longitude: 0 }, { latitude: 0, longitude: 1 }, 111.195],
      [{ latitude: 0, longitude: 179.5 }, { latitude: 0, longitude: -179.5 }, 111.195],
      [{ latitude: 90, longitude: 0 }, { latitude: -90, longitude: 0 }, 20_015.114],
    ])('from %j to %j is %f km', (from, to, km) => expect(distanceKm(from, to)).toBeCloseTo(km, 3));
  });
});

describe('the tiles', () => {
  const degrees = (most: number) => fc.double({ min: -most, max: most, noNaN: true });
  const area = fc.record({
    center: fc.record({ latitude: degrees(85), longitude: degrees(180) }),
    radiusKm: fc.double({ min: 0.1, max: 50, noNaN: true }),
  });
  const side = fc.integer({ min: 2, max: 5 });

  /** A point of the circle, by its share of the radius and its bearing. */
  function pointIn(
    { center, radiusKm }: { center: { latitude: number; longitude: number }; radiusKm: number },
    share: number,
    bearing: number,
  ) {
    const angle = (share * radiusKm) / 6371.0088;
    const [latitude, longitude, turn] = [center.latitude, center.longitude, bearing].map((each) => (each * Math.PI) / 180) as [
      number,
      number,
      number,
    ];
    const sine = Math.sin(latitude) * Math.cos(angle) + Math.cos(latitude) * Math.sin(angle) * Math.cos(turn);
    const away = Math.atan2(Math.sin(turn) * Math.sin(angle) * Math.cos(latitude), Math.cos(angle) - Math.sin(latitude) * sine);
    return { latitude: (Math.asin(sine) * 180) / Math.PI, longitude: ((((longitude + away) * 180) / Math.PI + 540) % 360) - 180 };
  }

  describe('the tiles of an area', () => {
    it('hold every point of the circle exactly once, over the antimeridian and far north too', () => {
      const share = fc.double({ min: 0, max: 0.999, noNaN: true });
      fc.assert(
        fc.property(area, side, share, fc.double({ min: 0, max: 360, noNaN: true }), (circle, many, part, bearing) => {
          const point = pointIn(circle, part, bearing);
          expect(tilesOf(circle, many).filter((tile) => isInTile(point, tile))).toHaveLength(1);
        }),
        { numRuns: propertyRuns(500) },
      );
    });

    it('share an edge without sharing a point, a rounding beside the antimeridian', () => {
      const circle = { center: { latitude: 0, longitude: -179.99998439084578 }, radiusKm: 0.1 };
      expect(tilesOf(circle, 2).filter((tile) => isInTile(pointIn(circle, 0, 0), tile))).toHaveLength(1);
    });

    it('are as many as were asked for, each within its own radius and the range of degrees', () => {
      fc.assert(
        fc.property(area, side, (circle, many) => {
          const tiles = tilesOf(circle, many);
          expect(tiles).toHaveLength(many * many);
          for (const { low, high, center, radiusKm } of tiles) {
            for (const corner of [low, high]) {
              expect(distanceKm(center, corner)).toBeLessThanOrEqual(radiusKm);
              expect(Math.abs(corner.longitude)).toBeLessThanOrEqual(180);
              expect(Math.abs(corner.latitude)).toBeLessThanOrEqual(90);
            }
          }
        }),
        { numRuns: propertyRuns(200) },
      );
    });
  });
});

describe('a website', () => {
  it.each([
    ['https://www.facebook.com/lotus.clinic', 'facebook'],
    ['http://instagram.com/lotus', 'instagram'],
    ['https://wa.me/918055501001', 'whatsapp'],
  ])('%s is the profile of a business on %s', (url, network) => expect(socialsOf(url)).toEqual([{ network, url }]));

  it.each([null, '', 'https://lotus.example.com/', 'https://facebook.com.example.net/', 'https://notfacebook.com/', 'not a URL'])(
    '%j is none',
    (url) => expect(socialsOf(url)).toEqual([]),
  );
});
