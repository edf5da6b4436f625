import { type Pool } from 'pg';
import { type Clock } from '../../../../plugins/core/ports';
import { closeStatements } from '../../../selling/statements/close-statements';
import { type Registry, Gauge } from 'prom-client';
import { type Log } from '../../../kit/log';
import { repeat } from '../../../kit/repeat';

export interface StatementWorkOptions {
  readonly db: Pool;
  readonly log: Log;
  readonly clock: Clock;
  readonly timeZone: string;
  /** Registry of the metrics. */
  readonly registry: Registry;
}

const HOUR_MS = 3_600_000;

/** Closes the statements of past months, even if nobody asks for them. */
export function startStatements(options: StatementWorkOptions): { close(): Promise<void> } {
  const { db, log, clock, timeZone, registry } = options;
  const failed = new Gauge({
    name: 'tollgate_statements_failed',
    help: 'Customers whose statement of the last finished month could not be closed when this was last tried. The log names them.',
    registers: [registry],
  });
  let isEnding = false;
  async function closeAll(): Promise<void> {
    let failures = 0;
    const onFailure = ({ id, month }: { id: string; month: string }, err: unknown): void => {
      failures += 1;
      log.error({ err, customer: id, month }, 'a statement could not be closed');
    };
    const closed = await closeStatements(db, { timeZone, now: clock.now() / 1_000, isEnding: () => isEnding, onFailure });
    failed.set(failures);
    if (closed > 0) log.info({ closed }, 'statements were closed');
  }
  const closing = repeat(closeAll, { everyMs: HOUR_MS, onError: (err) => log.warn({ err }, 'statements could not be closed') });
  return {
    close() {
      isEnding = true;
      return closing.close();
    },
  };
}
