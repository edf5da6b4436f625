import { type Pool } from 'pg';

/** Small transactions, so that the log can be written meanwhile. */
const BATCH = 10_000;

/**
 * Deletes lines of the audit log that are older than `days`. The database keeps 90 days in any case.
 * @returns the number of deleted lines; 0 also when another process is deleting
 */
export async function pruneAudit(pool: Pool, { days, batch = BATCH }: { days: number; batch?: number }): Promise<number> {
  for (let deleted = 0; ;) {
    const { rows } = await pool.query<{ gone: number }>('SELECT audit_forget($1, $2) AS gone', [days, batch]);
    const gone = rows[0]?.gone ?? 0;
    deleted += gone;
    if (gone === 0) return deleted;
  }
}
