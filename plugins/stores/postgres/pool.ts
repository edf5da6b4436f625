import { Pool } from 'pg';

export interface PoolOptions {
  /** Most connections at a time. */
  readonly max?: number;
  /** Connections kept open while idle, so that the next query need not wait for one. Default: none after 10 s without use. */
  readonly min?: number;
  /**
   * A query that takes longer fails, at the server and at this end, because a stopped server could not report it. A transaction that waits
   * this long for its next statement ends at the server: its client may be cut off, and its locks would hold up everybody.
   */
  readonly statementTimeoutMs?: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName?: string;
  /** Told about connections that broke while idle. The pool replaces them by itself. */
  readonly onError?: (error: Error) => void;
}

/** A connection pool. Waiting for a connection is bounded too: by the statement time-out, and 5 s without one. */
export function createPool(url: string, options: PoolOptions = {}): Pool {
  const { statementTimeoutMs } = options;
  const pool = new Pool({
    connectionString: url,
    max: options.max ?? 10,
    min: options.min ?? 0,
    application_name: options.applicationName ?? 'tollgate',
    connectionTimeoutMillis: statementTimeoutMs ?? 5_000,
    ...(statementTimeoutMs !== undefined && {
      statement_timeout: statementTimeoutMs,
      query_timeout: statementTimeoutMs,
      idle_in_transaction_session_timeout: statementTimeoutMs,
    }),
  });
  // Without listeners a connection that breaks would end the process: the pool's hears of idle ones only, so that each connection
  // needs its own for the time it is lent out. The next query tells the borrower.
  pool.on('error', (error) => options.onError?.(error));
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Opens a first connection ahead of its use; a database that is away now may be back by then. */
export async function warmPool(pool: Pool): Promise<void> {
  await pool.query('SELECT 1').catch(() => undefined);
}
