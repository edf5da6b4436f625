import { type Pool } from 'pg';
import { type Clock, type QuotaCounter, systemClock } from '../../../plugins/core/ports';
import { PostgresQuotaCounter } from '../../../plugins/stores/postgres/quota-counter';
import { QuotaLedger } from '../../../plugins/stores/postgres/quota-ledger';
import { CoalescingCounter } from '../../../plugins/stores/quota-coalescer';
import { type StoreLog } from '../../../plugins/stores/quota-parts';
import { SeenUsage } from '../../../plugins/stores/quota-seen';
import { type QuotaStore, createQuotaCounter } from '../../../plugins/stores/quota-store';
import { RedisQuotaCounter } from '../../../plugins/stores/redis/quota-counter';
import { QuotaScript } from '../../../plugins/stores/redis/quota-script';
import { RedisConnection } from '../../../plugins/stores/redis/redis-connection';
import { type QuotaHarness } from '../../contracts/quota-counter';

export const silentLog: StoreLog = { info: () => undefined, warn: () => undefined };

/** Long enough that a busy machine is never taken for a silent store. */
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
    clock: clock ?? systemClock,
    clockOffsetSeconds: () => storeClock?.offsetSeconds ?? 0,
    log: log ?? silentLog,
  };
}

/** The Postgres counter alone. */
export function postgresNode(options: NodeOptions): QuotaCounter {
  const shared = common(options);
  return new CoalescingCounter(new PostgresQuotaCounter(new QuotaLedger({ ...shared, ...PATIENT }), shared.timeZone));
}

/** The Redis counter without a fallback. */
export async function redisNode(options: NodeOptions & { redisUrl: string }): Promise<{ counter: QuotaCounter; close(): void }> {
  const shared = common(options);
  let isReady: () => void = () => undefined;
  const ready = new Promise<void>((resolve) => (isReady = resolve));
  const connection = new RedisConnection({
    url: options.redisUrl,
    clock: shared.clock,
    silenceMs: PATIENT.silenceMs,
    heldUpSilenceMs: PATIENT.heldUpSilenceMs,
    onTrouble: () => undefined,
    onLateReply: () => undefined,
    onReady: isReady,
  });
  await ready;
  const script = new QuotaScript({ ...shared, connection });
  const ledger = new QuotaLedger({ ...shared, ...PATIENT });
  const counter = new CoalescingCounter(new RedisQuotaCounter({ connection, script, ledger, seen: new SeenUsage() }));
  return { counter, close: () => connection.close() };
}

/** What production composes. `isPatient`: only a broken connection gives Redis up, never a machine that is slow. */
export function storeNode(options: NodeOptions & { redisUrl: string | undefined; isPatient?: boolean }): Promise<QuotaStore> {
  const { redisUrl, isPatient } = options;
  return createQuotaCounter({ ...common(options), redisUrl, redisSilence: isPatient ? PATIENT : undefined });
}

/** Two nodes made alike. */
export async function harnessOf(
  create: (storeClock: StoreClock) => Promise<{ counter: QuotaCounter; close(): void | Promise<void> }>,
): Promise<QuotaHarness> {
  const storeClock = new StoreClock();
  const [one, two] = await Promise.all([create(storeClock), create(storeClock)]);
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

/** Waits for what happens by itself; ten seconds at most. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries++) {
    if (await condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('waited in vain');
}
