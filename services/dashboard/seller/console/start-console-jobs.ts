import { type Pool } from 'pg';
import { type Clock } from '../../../../plugins/core/ports';
import { windowsAt } from '../../../../plugins/core/access/quota';
import { endLimits } from '../../../selling/billing/limit-terms';
import { addUpBusiness } from '../../../selling/operators/business-figures';
import { updateListing } from '../../../selling/operators/update-listing';
import { addUpProducts } from '../../../selling/operators/product-figures';
import { type Log } from '../../../kit/log';

const EVERY_MS = 60_000;

export interface ConsoleJobs {
  /** Waits for running jobs. */
  close(): Promise<void>;
}

/**
 * Once a minute: removes limits whose end has come, adds up figures, and brings the list of customers up to date. Several processes may do
 * so at once.
 */
export function startConsoleJobs(options: { db: Pool; log: Log; clock: Clock; timeZone: string }): ConsoleJobs {
  const { db, log, clock, timeZone } = options;
  let running: Promise<void> | undefined;
  async function runOnce(): Promise<void> {
    try {
      await endLimits(db);
      const today = windowsAt(clock.now() / 1000, timeZone).day;
      await addUpProducts(db, today);
      await updateListing(db, today);
      await addUpBusiness(db, { today, timeZone });
    } catch (error) {
      log.warn({ err: error }, 'limits, figures or the list of customers could not be brought up to date');
    }
  }
  const run = (): void => void (running ??= runOnce().finally(() => (running = undefined)));
  const timer = setInterval(run, EVERY_MS).unref();
  run();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
