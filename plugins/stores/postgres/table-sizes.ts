import { type Database } from './database';

interface TableSize {
  readonly table: string;
  /** Including indexes and data stored beside the rows. */
  readonly bytes: number;
  /** PostgreSQL's estimate; null when the table was never analysed. */
  readonly rows: number | null;
  /** Time of the estimate; null when never made, or made before the statistics were reset. */
  readonly countedAt: Date | null;
  /** Time of its oldest row; null for an empty table, and for a table whose rows have no time. */
  readonly since: Date | null;
}

export interface DatabaseSizes {
  /** Bytes of the whole database, including PostgreSQL's own tables. */
  readonly bytes: number;
  /** Largest first. */
  readonly tables: readonly TableSize[];
}

const SIZES = `
SELECT c.relname AS table, pg_total_relation_size(c.oid)::float8 AS bytes, NULLIF(c.reltuples, -1)::float8 AS rows,
  GREATEST(s.last_analyze, s.last_autoanalyze, s.last_vacuum, s.last_autovacuum) AS "countedAt"
FROM pg_class c LEFT JOIN pg_stat_user_tables s ON s.relid = c.oid
WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p')
ORDER BY bytes DESC, c.relname`;

/**
 * Queries for the oldest row of tables that grow with time. Large tables have an index for it: the order in which rows were added, or their
 * time.
 */
const OLDEST: Readonly<Record<string, string>> = {
  alert: 'SELECT at FROM alert ORDER BY number LIMIT 1',
  audit_log: 'SELECT at FROM audit_log ORDER BY id LIMIT 1',
  decision: 'SELECT at FROM decision ORDER BY at LIMIT 1',
  key_hour: 'SELECT min(day)::timestamptz AS at FROM key_hour',
  customer_day: 'SELECT min(day)::timestamptz AS at FROM customer_day',
  product_answers: 'SELECT min(day)::timestamptz AS at FROM product_answers',
  product_outage: 'SELECT min(began_at) AS at FROM product_outage',
  denial_count: 'SELECT min(day)::timestamptz AS at FROM denial_count',
  outbox: 'SELECT asked_at AS at FROM outbox ORDER BY id LIMIT 1',
  outbox_mail: 'SELECT at FROM outbox_mail ORDER BY at LIMIT 1',
  plan_request: 'SELECT min(asked_at) AS at FROM plan_request',
  quota_refund: 'SELECT min(day)::timestamptz AS at FROM quota_refund',
  statement: 'SELECT min(month)::timestamptz AS at FROM statement',
  status_subscription: 'SELECT min(asked_at) AS at FROM status_subscription',
  submission: 'SELECT min(at) AS at FROM submission',
  subscription_term: 'SELECT since AS at FROM subscription_term ORDER BY id LIMIT 1',
  usage: 'SELECT day::timestamptz AS at FROM usage ORDER BY day LIMIT 1',
  webhook_delivery: 'SELECT created_at AS at FROM webhook_delivery ORDER BY created_at LIMIT 1',
};

async function oldestOf(db: Database, table: string): Promise<Date | null> {
  const text = OLDEST[table];
  if (text === undefined) return null;
  const { rows } = await db.query<{ at: Date | null }>(text);
  return rows[0]?.at ?? null;
}

/** Returns the size of each table. It reads no rows except the oldest. */
export async function readTableSizes(db: Database): Promise<DatabaseSizes> {
  const { rows: whole } = await db.query<{ bytes: number }>('SELECT pg_database_size(current_database())::float8 AS bytes');
  const { rows } = await db.query<Omit<TableSize, 'since'>>(SIZES);
  const tables: TableSize[] = [];
  for (const row of rows) tables.push({ ...row, since: await oldestOf(db, row.table) });
  return { bytes: whole[0]?.bytes ?? 0, tables };
}
