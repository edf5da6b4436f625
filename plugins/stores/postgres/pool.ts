import { Pool } from 'pg';

export interface PoolOptions {
  /** Maximum connections. */
  readonly max?: number;
  /** Connections that stay open while idle, so that the next query need not wait for one. Default: none after 10 s without use. */
  readonly min?: number;
  /**
   * A query that takes longer fails, both at the server and on this side, because a stopped server could not report it. A transaction that
   * waits this long for its next statement ends at the server: its client may be cut off, and its locks would delay everybody.
   */
  readonly statementTimeoutMs?: number;
  /** Shown in `pg_stat_activity`. */
  readonly applicationName?: string;
  /** Called when an idle connection broke. The pool replaces it by itself. */
  readonly onError?: (error: Error) => void;
}

/** A connection pool. The wait for a connection is bounded too: by the statement time-out, or by 5 s. */
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
  // Without listeners, a broken connection would end the process. The pool's listener covers only idle connections, so each connection
  // needs its own while it is lent out. The borrower gets the error from the next query.
  pool.on('error', (error) => options.onError?.(error));
  pool.on('connect', (client) => client.on('error', () => undefined));
  return pool;
}

/** Opens a first connection ahead of its use. A database that is away now may be back by then. */
export async function warmPool(pool: Pool): Promise<void> {
  await pool.query('SELECT 1').catch(() => undefined);
}
