import { type RefundOutcome } from './catalogue/refunds';

/** Figures of a plugin server's stores, for metrics. Counts are since the start unless stated otherwise. */

export interface AccessRecordCacheStats {
  /** Number of keys and unknown hashes kept now. */
  readonly known: number;
  readonly unknown: number;
  readonly hits: number;
  readonly reads: number;
  /** Keys refused without a read, because no key has their hash. */
  readonly absences: number;
  /** Refused reads of keys that are not known to exist. Refusing them keeps the store free for others. */
  readonly doubtfulRefused: number;
  /** Number of keys in the store, by their known hashes; undefined while the hashes are not all known. */
  readonly knownHashes: number | undefined;
  readonly staleUses: number;
  /** Reads to which the store did not respond. */
  readonly failures: number;
  readonly isBreakerOpen: boolean;
}

export type QuotaStoreInUse = 'redis' | 'postgres' | 'none';

export interface QuotaStoreStats {
  readonly storeInUse: QuotaStoreInUse;
  /** Calls to each store; one call may carry many spends. */
  readonly redisCalls: number;
  readonly postgresCalls: number;
  /** Calls to which no store responded. */
  readonly failures: number;
  /** Number of times Redis was given up. */
  readonly failovers: number;
  /** Units that Redis granted after their requests had moved on; all are given back. */
  readonly lateUnits: number;
  /** Reads of PostgreSQL because Redis, as far as this node knew, did not have a subscription. */
  readonly seedings: number;
  readonly usageRowsWritten: number;
  /** Spends that wait for their turn now. */
  readonly waiting: number;
  /** Undefined without Redis. */
  readonly isRedisGivenUp: boolean | undefined;
  readonly isPostgresGivenUp: boolean;
}

/** Rows of the decision log; `failures` counts attempts to write. */
export interface DecisionWriterStats {
  readonly queued: number;
  readonly written: number;
  readonly dropped: number;
  /** Refusals without a known key that were dropped because their own share was full. */
  readonly droppedAnonymous: number;
  readonly failures: number;
}

/** Responses to admitted requests that the gateway reported. */
export interface WitnessStats {
  /** Admitted requests whose response is not reported yet. */
  readonly pending: number;
  /** Admitted requests whose response was never reported. */
  readonly missing: number;
}

/** Units that responses reported beyond those taken when their requests were admitted. */
export interface SettleQueueStats {
  /** Counters with something to settle. */
  readonly waiting: number;
  /** Counts since the start. `lost`: too many waited, the process ended while no store answered, or the day is unknown. */
  readonly units: Readonly<Record<'charged' | 'lost', number>>;
}

/** Requests that are given back because of the gateway's report. */
export interface RefundQueueStats {
  readonly waiting: number;
  /** Counts since the start. `lost`: too many waited, or the process ended while no store answered. */
  readonly outcomes: Readonly<Record<RefundOutcome | 'lost', number>>;
}
