import { type AccessRecord, type AccessRecords, type Clock, StoreUnavailable } from '../../plugins/core/ports';
import { compileWhitelist } from '../../plugins/core/whitelist';
import { type AccessRecordCache, type AccessRecordCacheOptions, createAccessRecordCache } from '../../plugins/stores/access-record-cache';
import { type Change, type ChangeFeed } from '../../plugins/stores/change-feed';

const MINUTE = 60_000;

function record(credentialId: string, extra: Partial<AccessRecord> = {}): AccessRecord {
  const whitelist = compileWhitelist([]);
  const usual = {
    customerId: 'customer',
    mode: 'live',
    state: 'active',
    expiresAtMs: null,
    products: ['api-ip'],
    subscriptions: [],
  } as const;
  return { credentialId, whitelist, ...usual, ...extra };
}

/** A store whose answers the test gives, a feed it controls and a clock it turns. */
function bench(options: Partial<AccessRecordCacheOptions> = {}) {
  const state = { now: 1_000_000, healthy: true, lastHealthyAt: 1_000_000, down: false, reads: 0 };
  const stored = new Map<string, AccessRecord>();
  const listeners = new Set<(change: Change) => void>();
  const clock: Clock = { now: () => state.now, monotonic: () => state.now };
  const feed: ChangeFeed = {
    isHealthy: () => state.healthy,
    lastHealthyAt: () => state.lastHealthyAt,
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
  let gate: Promise<void> | undefined;
  const source: AccessRecords = {
    async findAccessRecord(hash) {
      state.reads += 1;
      if (state.down) throw new StoreUnavailable('down');
      // What a read sees is settled when it begins, however late its answer comes.
      const seen = stored.get(hash);
      await gate;
      return seen;
    },
  };
  const cache: AccessRecordCache = createAccessRecordCache({ source, feed, clock, rereadDeadlineMs: 15, coldDeadlineMs: 60, ...options });
  return {
    state,
    stored,
    cache,
    find: (hash: string) => cache.findAccessRecord(hash),
    tell: (change: Change) => listeners.forEach((listener) => listener(change)),
    /** Lets time pass with a feed that keeps up. */
    pass: (ms: number): void => {
      state.now += ms;
      if (state.healthy) state.lastHealthyAt = state.now;
    },
    /** Reads that begin now are answered once the returned function is called. */
    hold: (): (() => void) => {
      let open: () => void = () => undefined;
      gate = new Promise((done) => (open = done));
      return () => {
        gate = undefined;
        open();
      };
    },
    feedDown: (): void => {
      state.healthy = false;
    },
    feedBack: (): void => {
      listeners.forEach((listener) => listener({ kind: 'gap' }));
      state.healthy = true;
      state.lastHealthyAt = state.now;
    },
  };
}

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

  it('answers from memory with the store gone', async () => {
    const { stored, find, state } = bench();
    stored.set('h', record('c'));
    await find('h');
    state.down = true;
    expect(await find('h')).toMatchObject({ credentialId: 'c' });
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
});

describe('while the feed is down', () => {
  it('reads anew for every request', async () => {
    const { stored, find, state, feedDown } = bench();
    stored.set('h', record('c'));
    await find('h');
    feedDown();
    stored.set('h', record('c', { state: 'revoked' }));
    expect(await find('h')).toMatchObject({ state: 'revoked' });
    stored.delete('h');
    expect(await find('h')).toBeUndefined();
    stored.set('h', record('c'));
    expect(await find('h')).toMatchObject({ state: 'active' });
    expect(state.reads).toBe(4);
  });

  it('uses a record until 60 s after the feed last vouched for it, then refuses', async () => {
    const { stored, find, state, feedDown, pass } = bench();
    stored.set('h', record('c'));
    await find('h');
    pass(10 * MINUTE);
    feedDown();
    state.down = true;
    pass(MINUTE - 1);
    expect(await find('h')).toMatchObject({ credentialId: 'c' });
    pass(1);
    await expect(find('h')).rejects.toThrow(StoreUnavailable);
  });

  it('counts from the last successful read when that was later', async () => {
    const { stored, find, state, feedDown, pass } = bench();
    stored.set('h', record('c'));
    feedDown();
    pass(10 * MINUTE);
    await find('h');
    state.down = true;
    pass(MINUTE - 1);
    expect(await find('h')).toMatchObject({ credentialId: 'c' });
    pass(1);
    await expect(find('h')).rejects.toThrow(StoreUnavailable);
  });

  it('does not use a record that a change was told of', async () => {
    const { stored, find, state, feedDown, tell } = bench();
    stored.set('h', record('c'));
    await find('h');
    tell({ kind: 'credential', id: 'c' });
    feedDown();
    state.down = true;
    await expect(find('h')).rejects.toThrow(StoreUnavailable);
  });

  it('never takes from memory that a key does not exist', async () => {
    const { find, state, feedDown } = bench();
    await find('h');
    feedDown();
    state.down = true;
    await expect(find('h')).rejects.toThrow(StoreUnavailable);
  });

  it('refuses a key it has never seen', async () => {
    const { find, state, feedDown } = bench();
    feedDown();
    state.down = true;
    await expect(find('h')).rejects.toThrow(StoreUnavailable);
  });

  it('uses a record when the store hangs, and what the late answer said afterwards', async () => {
    const { stored, find, hold, feedDown } = bench();
    stored.set('h', record('c'));
    await find('h');
    feedDown();
    stored.set('h', record('c', { state: 'revoked' }));
    const release = hold();
    expect(await find('h')).toMatchObject({ state: 'active' });
    release();
    await new Promise((done) => setImmediate(done));
    hold();
    expect(await find('h')).toMatchObject({ state: 'revoked' });
  });

  it('does not admit by an old record when the new one cannot be understood', async () => {
    let broken = false;
    const source: AccessRecords = {
      async findAccessRecord() {
        if (broken) throw new Error('stored whitelist rule cannot be read');
        return record('c');
      },
    };
    const { find, feedDown } = bench({ source });
    await find('h');
    feedDown();
    broken = true;
    await expect(find('h')).rejects.toThrow('cannot be read');
  });
});

describe('after the feed came back', () => {
  it('reads everything once more, since changes may have been missed', async () => {
    const { stored, find, state, feedDown, feedBack } = bench();
    stored.set('h', record('c'));
    await find('h');
    await find('none');
    feedDown();
    stored.set('h', record('c', { state: 'revoked' })).set('none', record('d'));
    feedBack();
    expect(await find('h')).toMatchObject({ state: 'revoked' });
    expect(await find('none')).toMatchObject({ credentialId: 'd' });
    expect(state.reads).toBe(4);
    await find('h');
    expect(state.reads).toBe(4);
  });

  it('does not take a read from before for one of after', async () => {
    const { stored, find, hold, state, feedDown, feedBack } = bench();
    stored.set('h', record('c'));
    feedDown();
    const release = hold();
    const found = find('h');
    feedBack();
    release();
    await found;
    await find('h');
    expect(state.reads).toBe(2);
  });

  it('still counts the 60 s from before when the store stays away', async () => {
    const { stored, find, state, feedDown, feedBack, pass } = bench();
    stored.set('h', record('c'));
    await find('h');
    pass(5_000);
    feedDown();
    pass(30_000);
    feedBack();
    state.down = true;
    feedDown();
    pass(29_999);
    expect(await find('h')).toMatchObject({ credentialId: 'c' });
    pass(1);
    await expect(find('h')).rejects.toThrow(StoreUnavailable);
  });
});

describe('a store that fails', () => {
  it('is left alone for the pause, then tried by one request', async () => {
    const { stored, find, state, feedDown, pass } = bench();
    stored.set('h', record('c'));
    await find('h');
    feedDown();
    state.down = true;
    await find('h');
    const before = state.reads;
    for (let index = 0; index < 20; index++) await find('h');
    await expect(find('cold')).rejects.toThrow(StoreUnavailable);
    expect(state.reads).toBe(before);
    pass(500);
    await Promise.all([find('h'), find('h'), find('h')]);
    expect(state.reads).toBe(before + 1);
  });

  it('is asked by everybody again after the first success', async () => {
    const { stored, find, state, feedDown, pass } = bench();
    stored.set('h', record('c'));
    feedDown();
    state.down = true;
    await expect(find('h')).rejects.toThrow(StoreUnavailable);
    state.down = false;
    await expect(find('h')).rejects.toThrow(StoreUnavailable);
    pass(500);
    expect(await find('h')).toMatchObject({ credentialId: 'c' });
    expect(await find('h')).toMatchObject({ credentialId: 'c' });
  });

  it('does not keep a request waiting when it hangs', async () => {
    const { find, hold } = bench();
    hold();
    await expect(find('cold')).rejects.toThrow(StoreUnavailable);
  });
});
