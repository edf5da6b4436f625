import { type Clock } from '../plugins/core/ports';
import { type ProcessSettings } from './kit/config';
import { type Log } from './kit/log';
import { type Refund } from './kit/refund';

export interface RefundStore {
  readonly refund: Refund;
  close(): Promise<void>;
}

/** The settings that say where units are counted. */
export type RefundSettings = Pick<ProcessSettings, 'DATABASE_URL' | 'REDIS_URL' | 'QUOTA_TIMEZONE'>;

/**
 * The quota counter that gives units back, or undefined when this process is connected to none: then units of failed requests stay
 * charged, and answers say so.
 */
export function createRefund(_settings: RefundSettings, { log }: { log: Log; clock: Clock }): Promise<RefundStore | undefined> {
  log.warn('no quota counter is connected: units of requests that end in 502 or 504 stay charged');
  return Promise.resolve(undefined);
}
