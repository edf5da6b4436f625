import { type Pool } from 'pg';
import { type Clock } from '../../../../plugins/core/ports';
import { endLimits } from '../../../selling/billing/limit-terms';
import { addUpBusiness } from '../../../selling/operators/business-figures';
import { updateListing } from '../../../selling/operators/update-listing';
import { addUpProducts } from '../../../selling/operators/product-figures';
import { type Log } from '../../../kit/log';
import { repeat } from '../../../kit/repeat';
import { todayOf } from '../../http/dashboard-deps';

const EVERY_MS = 60_000;

/**
 * Once a minute: removes limits whose end has come, adds up figures, and brings the list of customers up to date. Several processes may do
 * so at once.
 */
export function startConsoleJobs(options: { db: Pool; log: Log; clock: Clock; timeZone: string }): { close(): Promise<void> } {
  const { db, log, timeZone } = options;
  async function work(): Promise<void> {
    await endLimits(db);
    const today = todayOf(options);
    await addUpProducts(db, today);
    await updateListing(db, today);
    await addUpBusiness(db, { today, timeZone });
  }
  const onError = (err: unknown): void => log.warn({ err }, 'limits, figures or the list of customers could not be brought up to date');
  const jobs = repeat(work, { everyMs: EVERY_MS, onError });
  jobs.run();
  return jobs;
}
