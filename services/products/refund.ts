import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock } from '../../plugins/core/ports';
import { createPool, warmPool } from '../../plugins/stores/postgres/pool';
import { createQuotaCounter } from '../../plugins/stores/quota-store';
import { type ProcessSettings } from '../kit/config';
import { type Log } from '../kit/log';
import { type Refund } from '../kit/service/refund';

export interface RefundStore {
  readonly refund: Refund;
  close(): Promise<void>;
}

/** The settings that locate the counters of units. */
export type RefundSettings = Pick<ProcessSettings, 'DATABASE_URL' | 'REDIS_URL' | 'QUOTA_TIMEZONE'>;

/** Refunds are rare and short. */
const MAX_CONNECTIONS = 2;
const STATEMENT_TIMEOUT_MS = 1_000;
/** Plugin servers write the units that Redis granted every second. */
const WRITTEN_WITHIN_MS = 2_000;

/**
 * The quota counter that gives units back, or undefined if this process has no connection to one. Units of failed requests then stay
 * charged, and responses say so.
 */
export async function createRefund(settings: RefundSettings, { log, clock }: { log: Log; clock: Clock }): Promise<RefundStore | undefined> {
  if (settings.DATABASE_URL === undefined) {
    log.warn('DATABASE_URL is not set: units of requests that fail through no fault of the caller stay charged');
    return undefined;
  }
  const pool = createPool(settings.DATABASE_URL, {
    max: MAX_CONNECTIONS,
    // A caller waits for its refund, so it must not wait for a connection as well.
    min: 1,
    statementTimeoutMs: STATEMENT_TIMEOUT_MS,
    applicationName: 'tollgate-refund',
    onError: (err) => log.warn({ err }, 'a database connection broke while idle'),
  });
  await warmPool(pool);
  const quota = await createQuotaCounter({ redisUrl: settings.REDIS_URL, pool, timeZone: settings.QUOTA_TIMEZONE, clock, log });
  const refund: Refund = async (unit) => {
    const outcome = await quota.counter.refund(unit);
    if (outcome !== 'uncharged' || settings.REDIS_URL === undefined || quota.stats().storeInUse === 'redis') return outcome;
    // Redis is away for this process. If it is there for others, it may just have granted the unit, and PostgreSQL will soon have it.
    await sleep(WRITTEN_WITHIN_MS, undefined, { ref: false });
    return quota.counter.refund(unit);
  };
  return {
    refund,
    async close() {
      await quota.close();
      await pool.end();
    },
  };
}
