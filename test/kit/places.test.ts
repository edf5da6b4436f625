import { type KeyMode } from '../../plugins/core/ports';
import { ServiceError } from '../../services/kit/errors';
import { type PlaceOwner, Places, type ReleasePlace, shareOfTest } from '../../services/kit/places';
import { fc } from '../support/fast-check';

const owner = (subscriptionId: string, mode: KeyMode = 'live'): PlaceOwner => ({ subscriptionId, mode });

/** The code of the refusal, or what gives the place back. */
function tryTake(places: Places, who: PlaceOwner): ReleasePlace | string {
  try {
    return places.take(who);
  } catch (error) {
    return error instanceof ServiceError ? error.problem : 'no refusal';
  }
}

it('a subscription that holds all its places is refused, whatever its key, and others are not', () => {
  const places = new Places({ most: 10, mostOfOne: 2 });
  const release = places.take(owner('a'));
  places.take(owner('a', 'test'));
  expect(tryTake(places, owner('a'))).toBe('concurrency_exceeded');
  expect(tryTake(places, owner('b'))).toBeInstanceOf(Function);
  release();
  expect(tryTake(places, owner('a'))).toBeInstanceOf(Function);
});

it('test keys together take half of the places, so that a live key finds one', () => {
  const places = new Places({ most: 4, mostOfOne: 4 });
  for (const name of ['a', 'b']) places.take(owner(name, 'test'));
  expect(tryTake(places, owner('c', 'test'))).toBe('service_not_ready');
  for (const name of ['c', 'd']) places.take(owner(name));
  expect(tryTake(places, owner('e'))).toBe('service_not_ready');
});

it('a place that is given back twice counts once', () => {
  const places = new Places({ most: 2, mostOfOne: 2 });
  const release = places.take(owner('a'));
  places.take(owner('a'));
  release();
  release();
  expect(places.taken).toBe(1);
});

it('whatever is taken and given back in whatever order, no bound is passed and nothing leaks', () => {
  const someone = fc.record({
    subscriptionId: fc.constantFrom('a', 'b', 'c'),
    mode: fc.constantFrom<KeyMode>('live', 'test'),
  });
  const move = fc.oneof(fc.record({ take: someone }), fc.record({ giveBack: fc.nat(30) }));
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 4 }),
      fc.array(move, { maxLength: 60 }),
      (most, mostOfOne, moves) => {
        const places = new Places({ most, mostOfOne });
        const held: { who: PlaceOwner; release: ReleasePlace }[] = [];
        for (const each of moves) {
          if ('giveBack' in each) held.splice(each.giveBack, 1).forEach(({ release }) => release());
          else {
            const release = tryTake(places, each.take);
            if (typeof release !== 'string') held.push({ who: each.take, release });
          }
          expect(places.taken).toBe(held.length);
          expect(held.length).toBeLessThanOrEqual(most);
          expect(held.filter(({ who }) => who.mode === 'test').length).toBeLessThanOrEqual(shareOfTest(most));
          for (const name of ['a', 'b', 'c'])
            expect(held.filter(({ who }) => who.subscriptionId === name).length).toBeLessThanOrEqual(mostOfOne);
        }
        held.forEach(({ release }) => release());
        expect(places.taken).toBe(0);
        expect(tryTake(places, owner('a', 'test'))).toBeInstanceOf(Function);
      },
    ),
  );
});
