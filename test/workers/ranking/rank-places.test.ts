import { type Place } from '../../../services/workers/ranking/place';
import { positionBody, rankPlaces, searchBody, withoutRepeats } from '../../../services/workers/ranking/rank-places';
import { type RankQuery } from '../../../services/workers/ranking/ranking-upstream';
import { placeNamed } from './places';
import { fc, propertyRuns } from '../../support/fast-check';

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
        for (const { in_radius, distance_km } of searched.results) expect(in_radius).toBe(distance_km !== null && distance_km <= radiusKm);
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
