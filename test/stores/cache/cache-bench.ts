import { type AccessRecord, type AccessRecords, type Clock, StoreUnavailable } from '../../../plugins/core/ports';
import { compileWhitelist } from '../../../plugins/core/access/whitelist';
import { type AccessRecordCacheOptions, AccessRecordCache } from '../../../plugins/stores/cache/access-record-cache';
import { type Change, type ChangeFeed } from '../../../plugins/stores/cache/change-feed';

/** Milliseconds. */
export const MINUTE = 60_000;

/** A key's record with what a test needs to be different. */
export function record(credentialId: string, extra: Partial<AccessRecord> = {}): AccessRecord {
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
export function bench(options: Partial<AccessRecordCacheOptions> = {}) {
  const state = { now: 1_000_000, healthy: true, lastHealthyAt: 1_000_000, down: false, reads: 0 };
  const stored = new Map<string, AccessRecord>();
  const listeners = new Set<(change: Change) => void>();
  const clock: Clock = { now: () => state.now, monotonic: () => state.now };
  const feed: ChangeFeed = {
    isHealthy: () => state.healthy,
    lastHealthyAt: () => state.lastHealthyAt,
    caughtUp: () => Promise.resolve(state.healthy),
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
  const cache = new AccessRecordCache({ source, feed, clock, rereadDeadlineMs: 15, coldDeadlineMs: 60, ...options });
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
    feedDown: (): void => void (state.healthy = false),
    /** The feed and the store. */
    loseBoth: (): void => {
      state.healthy = false;
      state.down = true;
    },
    feedBack: (): void => {
      listeners.forEach((listener) => listener({ kind: 'gap' }));
      state.healthy = true;
      state.lastHealthyAt = state.now;
    },
  };
}
