import { compileWhitelist } from '../../../plugins/core/access/whitelist';
import { type Change } from '../../../plugins/stores/cache/change-feed';
import { bench, MINUTE, record } from './cache-bench';

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
