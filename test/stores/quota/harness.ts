import { type Pool } from 'pg';
import { type Clock, type QuotaCounter } from '../../../plugins/core/ports';
import { PostgresQuotaCounter } from '../../../plugins/stores/postgres/quota/quota-counter';
import { QuotaLedger } from '../../../plugins/stores/postgres/quota/quota-ledger';
import { CoalescingCounter } from '../../../plugins/stores/quota/quota-coalescer';
import { SeenUsage, type StoreLog } from '../../../plugins/stores/quota/quota-usage';
import { type QuotaStore, createQuotaCounter } from '../../../plugins/stores/quota-store';
import { openRedisMasters } from '../../../plugins/stores/redis/redis-masters';
import { RedisQuotaCounter } from '../../../plugins/stores/redis/quota-counter';
import { WatchedConnection, type WatchedConnectionOptions } from '../../../plugins/stores/redis/watched-connection';
import { type QuotaHarness } from '../../contracts/quota-node';
import { PatientClock } from './patient-clock';

export const silentLog: StoreLog = { info: () => undefined, warn: () => undefined };

/** What a store may take to answer, by a clock that only a test moves. */
const PATIENT = { silenceMs: 10_000, heldUpSilenceMs: 10_000, deadlineMs: 20_000 };

/** Shifts a store's clock: the difference to the real one, in whole seconds, set by {@link StoreClock.set}. */
export class StoreClock {
  offsetSeconds = 0;

  set(iso: string): void {
    this.offsetSeconds = Math.ceil((Date.parse(iso) - Date.now()) / 1000);
  }
}

export interface NodeOptions {
  readonly pool: Pool;
  readonly timeZone?: string;
  readonly storeClock?: StoreClock;
  readonly clock?: Clock;
  readonly log?: StoreLog;
}

function common({ pool, timeZone, storeClock, clock, log }: NodeOptions) {
  return {
    pool,
    timeZone: timeZone ?? 'Asia/Kolkata',
    clock: clock ?? new PatientClock(),
    clockOffsetSeconds: () => storeClock?.offsetSeconds ?? 0,
    log: log ?? silentLog,
  };
}

/** The Postgres counter alone. */
export function postgresNode(options: NodeOptions): QuotaCounter {
  const shared = common(options);
  const counter = new PostgresQuotaCounter(new QuotaLedger({ ...shared, ...PATIENT }), shared.timeZone);
  return new CoalescingCounter(() => counter);
}

/** A single server, watched; resolves when it takes commands. */
export async function connectToRedis(
  options: { readonly url: string } & Omit<WatchedConnectionOptions, 'masters' | 'name' | 'onLateReply'>,
): Promise<{ connection: WatchedConnection; close(this: void): void }> {
  const [masters, name] = await new Promise<[ReturnType<typeof openRedisMasters>, string]>((resolve) => {
    const opened = openRedisMasters(
      { kind: 'server', url: options.url },
      {
        onTrouble: (_, reason) => options.onTrouble(reason),
        onReady: (ready) => resolve([opened, ready]),
        onMoved: () => undefined,
      },
    );
  });
  const connection = new WatchedConnection({ ...options, masters, name, onLateReply: () => undefined });
  return { connection, close: () => masters.close() };
}

/** The Redis counter without a fallback. */
export async function redisNode(options: NodeOptions & { redisUrl: string }): Promise<{ counter: QuotaCounter; close(): void }> {
  const shared = common(options);
  const { connection, close } = await connectToRedis({
    ...PATIENT,
    url: options.redisUrl,
    clock: shared.clock,
    onTrouble: () => undefined,
  });
  const ledger = new QuotaLedger({ ...shared, ...PATIENT });
  const redis = new RedisQuotaCounter({ ...shared, connection, ledger, seen: new SeenUsage() });
  return { counter: new CoalescingCounter(() => redis), close };
}

export interface StoreNodeOptions extends NodeOptions {
  readonly redisUrl: string | undefined;
  /** Redis is away now. Otherwise a node that did not reach it in its first second, for want of turns, is made anew. */
  readonly startsWithoutRedis?: boolean;
}

/** What production composes. Only a broken connection gives a store up, or time that a test lets pass on a clock of its own. */
export async function storeNode(options: StoreNodeOptions): Promise<QuotaStore> {
  for (;;) {
    const store = await createQuotaCounter({ ...common(options), redisUrl: options.redisUrl });
    if (options.startsWithoutRedis || store.stats().failovers === 0) return store;
    await store.close();
  }
}

/** Clocks of two nodes: one is late, and the other early. */
export const CLOCKS_APART_MS = [-7_000, 5_000] as const;

/** Two nodes made alike, but for their clocks. */
export async function harnessOf(
  create: (given: { storeClock: StoreClock; clock: Clock }) => Promise<{ counter: QuotaCounter; close(): void | Promise<void> }>,
): Promise<QuotaHarness> {
  const storeClock = new StoreClock();
  const [late, early] = CLOCKS_APART_MS;
  const start = (aheadMs: number) => create({ storeClock, clock: new PatientClock(aheadMs) });
  const [one, two] = await Promise.all([start(late), start(early)]);
  return {
    counter: one.counter,
    otherNode: two.counter,
    setStoreClock: (iso) => storeClock.set(iso),
    close: async () => {
      await one.close();
      await two.close();
    },
  };
}
