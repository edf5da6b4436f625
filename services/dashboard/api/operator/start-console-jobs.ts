import { type Pool } from 'pg';
import { type Clock } from '../../../../plugins/core/ports';
import { windowsAt } from '../../../../plugins/core/access/quota';
import { endLimits } from '../../../../plugins/stores/postgres/operators/limit-terms';
import { addUpProducts } from '../../../../plugins/stores/postgres/operators/product-figures';
import { type Log } from '../../../kit/log';

const EVERY_MS = 60_000;

export interface ConsoleJobs {
  /** Waits for what runs. */
  close(): Promise<void>;
}

/** Once a minute: limits whose end has come go, and the figures of the products are added up. Several processes may do it at once. */
export function startConsoleJobs(options: { db: Pool; log: Log; clock: Clock; timeZone: string }): ConsoleJobs {
  const { db, log, clock, timeZone } = options;
  let running: Promise<void> | undefined;
  async function runOnce(): Promise<void> {
    try {
      await endLimits(db);
      await addUpProducts(db, windowsAt(clock.now() / 1000, timeZone).day);
    } catch (error) {
      log.warn({ err: error }, 'limits or figures of products could not be brought up to date');
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
