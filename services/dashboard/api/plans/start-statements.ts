import { type Pool } from 'pg';
import { type Clock } from '../../../../plugins/core/ports';
import { closeStatements } from '../../../../plugins/stores/postgres/statements/close-statements';
import { type Log } from '../../../kit/log';

export interface StatementWorkOptions {
  readonly db: Pool;
  readonly log: Log;
  readonly clock: Clock;
  readonly timeZone: string;
  /** Between two looks. Default an hour. */
  readonly everyMs?: number;
}

const HOUR_MS = 3_600_000;

/** Closes the statements of months that are over, whether anybody asks for them or not. */
export function startStatements({ db, log, clock, timeZone, everyMs = HOUR_MS }: StatementWorkOptions): { close(): Promise<void> } {
  let closing: Promise<void> | undefined;
  let isEnding = false;
  const look = (): void => {
    closing ??= closeStatements(db, { timeZone, now: clock.now() / 1_000, isEnding: () => isEnding })
      .then((closed) => void (closed > 0 && log.info({ closed }, 'statements were closed')))
      .catch((err: unknown) => log.warn({ err }, 'statements could not be closed'))
      .finally(() => (closing = undefined));
  };
  const timer = setInterval(look, everyMs).unref();
  return {
    async close() {
      isEnding = true;
      clearInterval(timer);
      await closing;
    },
  };
}
