import { createHash } from 'node:crypto';
import { compileWhitelist } from '../../../plugins/core/access/whitelist';
import { type Change } from '../../../plugins/stores/cache/change-feed';
import { bench, MINUTE, record } from './cache-bench';
import { hashStartOf, KeyHashFilter } from '../../../plugins/stores/cache/key-filter';
import { type AccessRecord, StoreUnavailable } from '../../../plugins/core/ports';
import { AccessRecordCache } from '../../../plugins/stores/cache/access-record-cache';
import { type HashPage, KnownHashes } from '../../../plugins/stores/cache/known-hashes';
import { eventually } from '../../support/eventually';
import { fc, propertyRuns } from '../../support/fast-check';

describe('while the feed is healthy', () => {
  it('reads a key once, however many ask and however long it stays unchanged', async () => {
    const { stored, find, state, pass } = bench();
    stored.set('h', record('c'));
    await Promise.all([find('h'), find('h'), find('h')]);
    pass(100 * MINUTE);
    expect(await find('h')).toMatchObject({ credentialId: 'c' });
    expect(state.reads).toBe(1);
  });

  it('reads an unknown hash once, and again after any key was changed', async () => {
    const { stored, find, state, tell } = bench();
    expect(await find('h')).toBeUndefined();
    expect(await find('h')).toBeUndefined();
    expect(state.reads).toBe(1);
    stored.set('h', record('c'));
    tell({ kind: 'credential', id: 'c' });
    expect(await find('h')).toMatchObject({ credentialId: 'c' });
  });

  it.each<[string, Change, string[]]>([
    ['a key', { kind: 'credential', id: 'c1' }, ['h1']],
    ['a customer or subscription', { kind: 'customer', id: 'one' }, ['h1', 'h2']],
    ['a plan or product', { kind: 'everything' }, ['h1', 'h2', 'h3']],
  ])('reads again exactly what a change of %s concerns', async (_, change, expected) => {
    const { stored, find, state, tell } = bench();
    stored
      .set('h1', record('c1', { customerId: 'one' }))
      .set('h2', record('c2', { customerId: 'one' }))
      .set('h3', record('c3', { customerId: 'two' }));
    for (const hash of ['h1', 'h2', 'h3']) await find(hash);
    tell(change);
    const again: string[] = [];
    for (const hash of ['h1', 'h2', 'h3']) {
      const before = state.reads;
      await find(hash);
      if (state.reads > before) again.push(hash);
    }
    expect(again).toEqual(expected);
  });

  it.each<[string, Change, boolean]>([
    ['its own key', { kind: 'credential', id: 'c' }, true],
    ['its own customer', { kind: 'customer', id: 'customer' }, true],
    ['a plan', { kind: 'everything' }, true],
    ['another key', { kind: 'credential', id: 'other' }, false],
  ])('keeps what a read found only if no change of it was told meanwhile: %s', async (_, change, expected) => {
    const { stored, find, state, tell, hold } = bench();
    stored.set('h', record('c'));
    const release = hold();
    const found = find('h');
    stored.set('h', record('c', { state: 'revoked' }));
    tell(change);
    release();
    await found;
    await find('h');
    expect(state.reads).toBe(expected ? 2 : 1);
  });

  it('does not keep that a key is unknown when one was made meanwhile', async () => {
    const { stored, find, tell, hold } = bench();
    const release = hold();
    const found = find('h');
    stored.set('h', record('c'));
    tell({ kind: 'credential', id: 'c' });
    release();
    expect(await found).toBeUndefined();
    expect(await find('h')).toMatchObject({ credentialId: 'c' });
  });

  it('lets nobody join a read that began before a change', async () => {
    const { stored, find, tell, hold } = bench();
    stored.set('h', record('c'));
    const release = hold();
    const early = find('h');
    stored.set('h', record('c', { state: 'revoked' }));
    tell({ kind: 'credential', id: 'c' });
    const late = find('h');
    release();
    expect(await early).toMatchObject({ state: 'active' });
    expect(await late).toMatchObject({ state: 'revoked' });
  });

  it('keeps no more than it was allowed to', async () => {
    const { stored, find, cache, tell, state } = bench({ maxKnown: 10, maxUnknown: 5 });
    for (let index = 0; index < 100; index++) {
      stored.set(`h${index}`, record(`c${index}`));
      await find(`h${index}`);
      await find(`none${index}`);
    }
    expect(cache.stats()).toMatchObject({ known: 10, unknown: 5 });
    // The indexes by customer and key must follow what was pushed out.
    tell({ kind: 'customer', id: 'customer' });
    expect(cache.stats().known).toBe(0);
    expect(state.reads).toBe(200);
  });

  it('keeps fewer records when they hold more whitelist rules than memory should', async () => {
    const { stored, find, cache } = bench();
    const whitelist = { ...compileWhitelist([]), size: 10_000 };
    for (let index = 0; index < 300; index++) {
      stored.set(`h${index}`, record(`c${index}`, { whitelist }));
      await find(`h${index}`);
    }
    expect(cache.stats().known).toBeGreaterThan(50);
    expect(cache.stats().known).toBeLessThan(150);
  });
});

const KEYS = 20_000;
const hash = (name: string): string => createHash('sha256').update(name).digest('hex');

function filled(): KeyHashFilter {
  const filter = new KeyHashFilter(KEYS);
  for (let index = 0; index < KEYS; index++) filter.add(hashStartOf(hash(`key ${index}`)));
  return filter;
}

describe('a filter of keys', () => {
  const filter = filled();

  it('has every key that was added', () => {
    let missed = 0;
    for (let index = 0; index < KEYS; index++) if (!filter.mayHave(hashStartOf(hash(`key ${index}`)))) missed += 1;
    expect(missed).toBe(0);
  });

  it('takes less than 0.6 % of other hashes for keys when it is full', () => {
    let found = 0;
    for (let index = 0; index < KEYS; index++) if (filter.mayHave(hashStartOf(hash(`none ${index}`)))) found += 1;
    expect(found / KEYS).toBeLessThan(0.006);
  });

  it('counts a key once, and is full beyond what it was made for', () => {
    const full = filled();
    full.add(hashStartOf(hash('key 1')));
    expect(full.size).toBeLessThanOrEqual(KEYS);
    expect(full.size).toBeGreaterThan(KEYS * 0.99);
    for (let index = 0; index < KEYS * 0.05; index++) full.add(hashStartOf(hash(`more ${index}`)));
    expect(full.isFull).toBe(true);
  });

  it('takes 1.5 bytes a key', () => {
    expect(new KeyHashFilter(1_000_000).bytes).toBe(1_500_000);
  });
});

const PAGE = 2;
const hashOf = (key: number): string => createHash('sha256').update(`key ${key}`).digest('hex');

/** Resolves in an order that a test, or chance, decides. */
type Later = (label: string) => Promise<unknown>;

/** A store and its feed: what is committed is told in its order, some time later, to the connection of that moment. */
function model(later: Later = () => Promise.resolve(), options: { readonly coldDeadlineMs?: number } = {}) {
  const committed = new Map<string, AccessRecord>();
  const listeners = new Set<(change: Change) => void>();
  let connection: { untold: Change[] } | undefined;
  const state = { now: 0, reads: 0, pages: 0, failing: 0, isMute: false };
  const tell = (change: Change): void => listeners.forEach((listener) => listener(change));
  const tellAll = (of: { untold: Change[] }, count: number): void => {
    for (const change of of.untold.splice(0, count)) tell(change);
  };
  const feed = {
    isHealthy: () => connection !== undefined,
    lastHealthyAt: () => 0,
    async caughtUp() {
      const asked = connection;
      const committedBefore = asked?.untold.length ?? 0;
      await later('the question is answered');
      if (!asked || asked !== connection) return false;
      tellAll(asked, committedBefore);
      return true;
    },
    subscribe(listener: (change: Change) => void) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  const hashSource = {
    async readHashes(after: Buffer | undefined): Promise<HashPage> {
      state.pages += 1;
      await later('a page begins to be read');
      const rest = [...committed.keys()].sort().filter((hash) => after === undefined || hash > after.toString('hex'));
      const page = rest.slice(0, PAGE);
      await later('a page arrives');
      if (state.failing > 0) {
        state.failing -= 1;
        throw new Error('no answer');
      }
      const starts = Buffer.from(page.map((hash) => hash.slice(0, 16)).join(''), 'hex');
      return { starts, next: page.length < PAGE ? undefined : Buffer.from(page.at(-1) ?? '', 'hex') };
    },
  };
  const source = {
    async findAccessRecord(hash: string) {
      state.reads += 1;
      await later('a read begins');
      const seen = committed.get(hash);
      await later('a read ends');
      return seen;
    },
  };
  // So small that a load finds its filter full while keys are made beside it.
  const hashes = new KnownHashes({ source: hashSource, feed, retryMs: 0, leastCapacity: 2 });
  const clock = { now: () => 1, monotonic: () => state.now };
  // A cache of the size of a real one costs milliseconds to make, and a property makes hundreds.
  const cache = new AccessRecordCache({ source, feed, hashes, clock, maxKnown: 1_000, maxUnknown: 1_000, ...options });
  return {
    committed,
    state,
    tell,
    hashes,
    find: (key: number) => cache.findAccessRecord(hashOf(key)),
    create: (key: number): void => {
      if (committed.has(hashOf(key))) return;
      committed.set(hashOf(key), record(`credential ${key}`));
      if (!connection) return;
      const of = connection;
      of.untold.push({ kind: 'credential', id: `credential ${key}`, hash: hashOf(key).slice(0, 16) });
      void later('a change is told').then(() => of === connection && !state.isMute && tellAll(of, 1));
    },
    connect: (): void => {
      connection = { untold: [] };
      tell({ kind: 'gap' });
    },
    lose: () => void (connection = undefined),
    isConnected: () => connection !== undefined,
    isComplete: () => hashes.stats().isComplete,
  };
}

async function connected(keys: number) {
  const made = model();
  for (let key = 0; key < keys; key++) made.create(key);
  made.connect();
  await eventually(made.isComplete);
  return made;
}

describe('the hashes of all keys', () => {
  it('spare the store the question for a key that does not exist', async () => {
    const { find, state } = await connected(7);
    for (let key = 100; key < 200; key++) expect(await find(key)).toBeUndefined();
    expect(state.reads).toBeLessThan(5);
  });

  it('know a key the moment that it is told', async () => {
    const { find, create, state, hashes } = await connected(7);
    create(50);
    await Promise.resolve();
    expect(hashes.judge(hashOf(50))).toBe('possible');
    expect(await find(50)).toMatchObject({ credentialId: 'credential 50' });
    expect(state.reads).toBe(1);
  });

  it('refuse no key that is committed and not told yet', async () => {
    const { find, create, state } = await connected(7);
    state.isMute = true;
    create(50);
    expect(await find(50)).toMatchObject({ credentialId: 'credential 50' });
  });

  it('are loaded again for more keys than there is room for, and go on to answer meanwhile', async () => {
    const { create, hashes, find, state } = await connected(2);
    for (let key = 10; key < 40; key++) create(key);
    expect(hashes.stats().isComplete).toBe(true);
    await eventually(() => hashes.stats().loads >= 2);
    for (let key = 10; key < 40; key++) expect(hashes.judge(hashOf(key))).toBe('possible');
    state.reads = 0;
    for (let key = 100; key < 200; key++) await find(key);
    expect(state.reads).toBeLessThan(5);
  });

  it.each<[string, Change]>([
    ['the feed was connected anew', { kind: 'gap' }],
    ['a message could not be read', { kind: 'everything' }],
    ['a key changed and its hash was not told', { kind: 'credential', id: 'c' }],
  ])('prove nothing until they are loaded again when %s', async (_, change) => {
    const { hashes, tell, isComplete, state } = await connected(3);
    state.failing = 1;
    tell(change);
    expect(isComplete()).toBe(false);
    expect([hashes.judge(hashOf(1)), hashes.judge(hashOf(77))]).toEqual(['possible', 'doubtful']);
    await eventually(isComplete);
    expect(hashes.judge(hashOf(77))).toBe('absent');
  });

  it('are not loaded again for a change of a plan, a customer or a key that went', async () => {
    const { tell, isComplete, hashes } = await connected(3);
    tell({ kind: 'everything', isCatalogue: true });
    tell({ kind: 'customer', id: 'c' });
    tell({ kind: 'credential', id: 'c', hash: null });
    expect(isComplete()).toBe(true);
    expect(hashes.stats().loads).toBe(1);
  });

  it('leave the store to keys that are known to exist while they prove nothing', async () => {
    let open: () => void = () => undefined;
    const gate = new Promise<void>((done) => (open = done));
    let isHeld = false;
    // No clock refuses what waits here: a busy machine may hold this process up for a second.
    const made = model((label) => (isHeld && label === 'a read ends' ? gate : Promise.resolve()), { coldDeadlineMs: 600_000 });
    for (let key = 0; key < 4; key++) made.create(key);
    made.connect();
    await eventually(made.isComplete);
    made.lose();
    isHeld = true;
    const flood = Array.from({ length: 2_000 }, (_, index) =>
      made.find(1_000 + index).then(
        () => 'answered',
        (error: unknown) => error,
      ),
    );
    await new Promise((done) => setImmediate(done));
    expect(made.state.reads).toBe(4);
    const known = [0, 1, 2, 3].map(made.find);
    await new Promise((done) => setImmediate(done));
    expect(made.state.reads).toBe(8);
    open();
    for (const found of known) expect(await found).toBeDefined();
    const answers = await Promise.all(flood);
    expect(answers.filter((answer) => answer === 'answered')).toHaveLength(504);
    expect(answers.filter((answer) => answer instanceof StoreUnavailable)).toHaveLength(1_496);
  });
});

const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('create' as const), key: fc.nat(40) }) },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('createAndFind' as const), key: fc.nat(40) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('find' as const), key: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'lose' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'connect' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'fail' as const }) },
);

it('whatever is created, lost, connected and loaded in whatever order: no key that was committed is ever called unknown', async () => {
  const everyOrder = fc.asyncProperty(fc.scheduler(), fc.array(action, { minLength: 5, maxLength: 40 }), async (scheduler, actions) => {
    const made = model((label) => scheduler.schedule(Promise.resolve(), label));
    const asked: Promise<void>[] = [];
    // Keys are random: nobody asks for one before it exists, so that its absence was not remembered in the moment before it was told.
    const guessed = new Set<number>();
    const find = async (key: number): Promise<void> => {
      guessed.add(key);
      const isCommitted = made.committed.has(hashOf(key));
      const found = await made.find(key).catch((error: unknown) => error);
      if (isCommitted && found === undefined) throw new Error(`key ${key} was committed and called unknown`);
    };
    const act = (what: (typeof actions)[number]): void => {
      // So that nobody joins the read of another, which may have begun before the commit.
      made.state.now += 200;
      if ((what.kind === 'create' || what.kind === 'createAndFind') && !guessed.has(what.key)) made.create(what.key);
      if (what.kind === 'find' || what.kind === 'createAndFind') asked.push(find(what.key));
      if (what.kind === 'fail') made.state.failing = 1;
      if (what.kind === 'connect') made.connect();
      if (what.kind === 'lose') made.lose();
    };
    made.connect();
    for (const what of actions) void scheduler.schedule(Promise.resolve(what), what.kind).then(act);
    await scheduler.waitIdle();
    await Promise.all(asked);
    if (!made.isConnected()) made.connect();
    while (!made.isComplete()) await Promise.all([scheduler.waitIdle(), new Promise((done) => setTimeout(done, 1))]);
    const verdicts = [...made.committed.keys()].map((hash) => made.hashes.judge(hash));
    made.hashes.close();
    expect(verdicts.filter((verdict) => verdict !== 'possible')).toEqual([]);
  });
  await fc.assert(everyOrder, { numRuns: propertyRuns(200) });
});
