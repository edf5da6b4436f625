import { type Pool } from 'pg';

/** Small transactions, so that the log can be written meanwhile. */
const BATCH = 10_000;

/**
 * Deletes lines of the audit log that are older than `days`; the database keeps 90 days whatever is asked.
 * @returns how many were deleted; 0 also when another process is at it
 */
export async function pruneAudit(pool: Pool, { days, batch = BATCH }: { days: number; batch?: number }): Promise<number> {
  for (let deleted = 0; ;) {
    const { rows } = await pool.query<{ gone: number }>('SELECT audit_forget($1, $2) AS gone', [days, batch]);
    const gone = rows[0]?.gone ?? 0;
    deleted += gone;
    if (gone === 0) return deleted;
  }
}
