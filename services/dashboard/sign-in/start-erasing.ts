import { type Pool } from 'pg';
import { eraseDueAccounts } from '../../selling/members/account-deletion';
import { eraseDuePeople } from '../../selling/members/person-deletion';
import { type Log } from '../../kit/log';

const EVERY_MS = 600_000;

async function eraseAllDue(db: Pool): Promise<number> {
  return (await eraseDueAccounts(db)) + (await eraseDuePeople(db));
}

/** Erases accounts whose grace is over, beside the API. Any number of processes may do so at once. */
export function startErasing({ db, log, everyMs = EVERY_MS }: { db: Pool; log: Log; everyMs?: number }): { close(): Promise<void> } {
  let running: Promise<void> | undefined;
  const run = (): void =>
    void (running ??= eraseAllDue(db)
      .then(
        (erased) => void (erased > 0 && log.info({ erased }, 'accounts were erased')),
        (err: unknown) => log.warn({ err }, 'accounts that are due could not be erased'),
      )
      .finally(() => (running = undefined)));
  const timer = setInterval(run, everyMs).unref();
  run();
  return {
    async close() {
      clearInterval(timer);
      await running;
    },
  };
}
