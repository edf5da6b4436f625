import { type KeyMode } from '../../plugins/core/ports';
import { ServiceError } from '../../services/kit/errors';
import { type PlaceOwner, Places, type ReleasePlace, shareOfTest } from '../../services/kit/places';
import { fc } from '../support/fast-check';
import { FairLimit } from '../../services/kit/fair-limit';

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

describe('work in turns', () => {
  /** Work that lasts until it is told to end. */
  function held(started: string[], name: string) {
    let end = (): void => undefined;
    const done = new Promise<void>((resolve) => (end = resolve));
    const work = () => {
      started.push(name);
      return done;
    };
    return { work, end };
  }
  const turn = () => new Promise((resolve) => setImmediate(resolve));

  it('a newcomer gets the next free place before the rest of a long queue', async () => {
    const limit = new FairLimit({ atOnce: 2 });
    const started: string[] = [];
    const [first, second] = [{}, {}];
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => ({ owner: first, ...held(started, name) }));
    all.push({ owner: second, ...held(started, 'b1') });
    const running = all.map(({ owner, work }) => limit.run(owner, work));
    await turn();
    expect(started).toEqual(['a1', 'a2']);
    expect(limit.levels()).toEqual({ waiting: 3, busy: 2, size: 2 });
    all[0]?.end();
    await turn();
    expect(started).toEqual(['a1', 'a2', 'b1']);
    all.forEach(({ end }) => end());
    await Promise.all(running);
    expect(limit.levels()).toEqual({ waiting: 0, busy: 0, size: 2 });
  });

  it('a newcomer to the only place waits for one piece of work', async () => {
    const limit = new FairLimit({ atOnce: 1 });
    const started: string[] = [];
    const first = {};
    const all = ['a1', 'a2', 'a3'].map((name) => held(started, name));
    const running = all.map(({ work }) => limit.run(first, work));
    const newcomer = limit.run({}, () => Promise.resolve(started.push('b1')));
    all.forEach(({ end }) => end());
    await Promise.all([...running, newcomer]);
    expect(started).toEqual(['a1', 'b1', 'a2', 'a3']);
  });

  it('one owner leaves the others the places that are not his', async () => {
    const limit = new FairLimit({ atOnce: 4, mostOfOne: 3 });
    const started: string[] = [];
    const greedy = {};
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => ({ owner: greedy, ...held(started, name) }));
    const running = all.map(({ owner, work }) => limit.run(owner, work));
    await turn();
    expect(started).toEqual(['a1', 'a2', 'a3']);
    await limit.run({}, () => Promise.resolve(started.push('b1')));
    expect(started).toEqual(['a1', 'a2', 'a3', 'b1']);
    all.forEach(({ end }) => end());
    await Promise.all(running);
    expect(started).toHaveLength(5);
  });

  it('work that fails frees its place', async () => {
    const limit = new FairLimit({ atOnce: 1 });
    await expect(limit.run({}, () => Promise.reject(new Error('broken')))).rejects.toThrow('broken');
    expect(await limit.run({}, () => Promise.resolve('next'))).toBe('next');
  });

  it('who stops waiting leaves the queue, and takes no place', async () => {
    const limit = new FairLimit({ atOnce: 1 });
    const started: string[] = [];
    const first = held(started, 'a1');
    const running = limit.run('a', first.work);
    const leaving = new AbortController();
    const waiting = limit.run('b', held(started, 'b1').work, { signal: leaving.signal });
    const last = limit.run('c', () => Promise.resolve(started.push('c1')));
    leaving.abort(new Error('tired of waiting'));
    await expect(waiting).rejects.toThrow('tired of waiting');
    expect(limit.levels()).toEqual({ waiting: 1, busy: 1, size: 1 });
    await expect(limit.run('b', held(started, 'b2').work, { signal: leaving.signal })).rejects.toThrow('tired of waiting');
    first.end();
    await Promise.all([running, last]);
    expect(started).toEqual(['a1', 'c1']);
    expect(limit.levels()).toEqual({ waiting: 0, busy: 0, size: 1 });
  });

  it('test keys leave the last places to live keys, however many they are', async () => {
    const limit = new FairLimit({ atOnce: 4 });
    const started: string[] = [];
    const all = ['a1', 'b1', 'c1', 'd1'].map((name) => ({ owner: name, ...held(started, name) }));
    const running = all.map(({ owner, work }) => limit.run(owner, work, { mode: 'test' }));
    await turn();
    expect(started).toEqual(['a1', 'b1']);
    await limit.run('live', () => Promise.resolve(started.push('live')));
    expect(started).toEqual(['a1', 'b1', 'live']);
    all.forEach(({ end }) => end());
    await Promise.all(running);
    expect(started).toHaveLength(5);
  });
});
