import { setTimeout as sleep } from 'node:timers/promises';
import { type AccessRecord, type AccessRecords, StoreUnavailable } from '../../../plugins/core/ports';
import { bench, MINUTE, record } from './cache-bench';

const revoked = record('c', { state: 'revoked' });

/** A cache that has the key in memory. */
async function known() {
  const made = bench();
  made.stored.set('h', record('c'));
  await made.find('h');
  return made;
}

/** The record is used for so long, and not a millisecond longer. */
async function expectUsedFor(ms: number, { find, pass }: Pick<ReturnType<typeof bench>, 'find' | 'pass'>): Promise<void> {
  pass(ms - 1);
  expect(await find('h')).toMatchObject({ credentialId: 'c' });
  pass(1);
  await expect(find('h')).rejects.toThrow(StoreUnavailable);
}

describe('while the feed is down', () => {
  it('reads anew for every request', async () => {
    const { stored, find, state, feedDown } = await known();
    feedDown();
    stored.set('h', revoked);
    expect(await find('h')).toMatchObject({ state: 'revoked' });
    stored.delete('h');
    expect(await find('h')).toBeUndefined();
    stored.set('h', record('c'));
    expect(await find('h')).toMatchObject({ state: 'active' });
    expect(state.reads).toBe(4);
  });

  it('uses a record until 60 s after the feed last vouched for it, then refuses', async () => {
    const { find, pass, loseBoth } = await known();
    pass(10 * MINUTE);
    loseBoth();
    await expectUsedFor(MINUTE, { find, pass });
  });

  it('counts from the last successful read when that was later', async () => {
    const { stored, find, state, feedDown, pass } = bench();
    stored.set('h', record('c'));
    feedDown();
    pass(10 * MINUTE);
    await find('h');
    state.down = true;
    await expectUsedFor(MINUTE, { find, pass });
  });

  it('does not use a record that a change was told of', async () => {
    const { find, tell, loseBoth } = await known();
    tell({ kind: 'credential', id: 'c' });
    loseBoth();
    await expect(find('h')).rejects.toThrow(StoreUnavailable);
  });

  it('refuses a key it has never seen, and one that it knew not to exist', async () => {
    const { find, loseBoth } = bench();
    await find('none');
    loseBoth();
    for (const hash of ['none', 'h']) await expect(find(hash)).rejects.toThrow(StoreUnavailable);
  });

  it('uses a record when the store hangs, and what the late answer said afterwards', async () => {
    const { stored, find, hold, feedDown } = await known();
    feedDown();
    stored.set('h', revoked);
    const release = hold();
    expect(await find('h')).toMatchObject({ state: 'active' });
    release();
    await new Promise((done) => setImmediate(done));
    hold();
    expect(await find('h')).toMatchObject({ state: 'revoked' });
  });

  it('waits for a store that is slow to answer rather than use what may have been revoked a second ago, but for half a second', async () => {
    const { stored, find, hold, feedDown, pass } = await known();
    feedDown();
    stored.set('h', revoked);
    pass(1_000);
    setTimeout(hold(), 60);
    expect(await find('h')).toMatchObject({ state: 'revoked' });
    stored.set('h', record('c'));
    pass(1_000);
    hold();
    expect(await find('h')).toMatchObject({ state: 'revoked' });
  });

  it.each<[string, (stored: Map<string, AccessRecord>) => void]>([
    ['revoked', (stored) => stored.set('h', revoked)],
    ['gone', (stored) => stored.delete('h')],
  ])('does not take the late answer of an older read for the newer one that found the key %s', async (_, change) => {
    const { stored, find, hold, feedDown, pass, state } = bench();
    stored.set('h', record('c'));
    feedDown();
    const release = hold();
    const early = find('h');
    pass(200);
    change(stored);
    const releaseNewer = hold();
    releaseNewer();
    expect((await find('h'))?.state).not.toBe('active');
    release();
    await early;
    state.down = true;
    expect((await find('h').catch(() => undefined))?.state).not.toBe('active');
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
    const { stored, find, state, feedDown, feedBack } = await known();
    await find('none');
    feedDown();
    stored.set('h', revoked).set('none', record('d'));
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
    const { find, state, feedDown, feedBack, pass } = await known();
    pass(5_000);
    feedDown();
    pass(30_000);
    feedBack();
    state.down = true;
    feedDown();
    await expectUsedFor(30_000, { find, pass });
  });
});

describe('a store that fails', () => {
  it('is left alone for the pause, then tried by one request', async () => {
    const { find, state, pass, loseBoth } = await known();
    loseBoth();
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
    const { stored, find, state, pass, loseBoth } = bench();
    stored.set('h', record('c'));
    loseBoth();
    await expect(find('h')).rejects.toThrow(StoreUnavailable);
    state.down = false;
    await expect(find('h')).rejects.toThrow(StoreUnavailable);
    pass(500);
    expect(await find('h')).toMatchObject({ credentialId: 'c' });
    expect(await find('h')).toMatchObject({ credentialId: 'c' });
  });

  it('is not taken for one that hangs when it has answered and the record takes long to be made', async () => {
    const source: AccessRecords = {
      async findAccessRecord(hash, answered) {
        answered?.();
        if (hash === 'long') await sleep(900);
        return record(hash);
      },
    };
    const { cache, find } = bench({ source });
    await expect(find('long')).rejects.toThrow(StoreUnavailable);
    await sleep(600);
    expect(cache.stats().isBreakerOpen).toBe(false);
    expect(await find('short')).toMatchObject({ credentialId: 'short' });
  });

  it('does not keep a request waiting when it hangs', async () => {
    const { find, hold } = bench();
    hold();
    await expect(find('cold')).rejects.toThrow(StoreUnavailable);
  });
});
