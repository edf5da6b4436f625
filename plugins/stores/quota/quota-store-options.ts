import { type Pool } from 'pg';
import { type Clock } from '../../core/ports';
import { type StoreLog } from './quota-parts';

export interface QuotaStoreOptions {
  /** Without it Postgres counts. */
  readonly redisUrl?: string | undefined;
  readonly pool: Pool;
  /** IANA name; day and month turn at its midnight. */
  readonly timeZone: string;
  readonly clock: Clock;
  readonly log: StoreLog;
  /** Added to the clocks of Redis and Postgres; tests turn days with it. */
  readonly clockOffsetSeconds?: () => number;
  /** Default 20 ms, 200 ms on a machine that is short of turns. Raise it where Redis itself pauses for longer. */
  readonly redisSilence?: Silence | undefined;
}

export interface Silence {
  readonly silenceMs: number;
  readonly heldUpSilenceMs: number;
}
