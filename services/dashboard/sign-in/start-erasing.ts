import { type Pool } from 'pg';
import { eraseDueAccounts } from '../../selling/members/account-deletion';
import { eraseDuePeople } from '../../selling/members/person-deletion';
import { type Log } from '../../kit/log';
import { repeat } from '../../kit/repeat';

const EVERY_MS = 600_000;

/** Erases accounts whose grace is over, beside the API. Any number of processes may do so at once. */
export function startErasing({ db, log }: { db: Pool; log: Log }): { close(): Promise<void> } {
  async function erase(): Promise<void> {
    const erased = (await eraseDueAccounts(db)) + (await eraseDuePeople(db));
    if (erased > 0) log.info({ erased }, 'accounts were erased');
  }
  const erasing = repeat(erase, { everyMs: EVERY_MS, onError: (err) => log.warn({ err }, 'accounts that are due could not be erased') });
  erasing.run();
  return erasing;
}
