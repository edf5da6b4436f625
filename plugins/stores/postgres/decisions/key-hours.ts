import { type Database } from '../database';
import { type KeyHour } from './count-key-hours';

/** Sorted, so that two nodes lock the rows in the same order. */
const ADD = `
INSERT INTO key_hour AS old (credential_id, day, hour, product_id, admitted, refused, unavailable, admitted_unlogged, refused_unlogged)
SELECT "credentialId", day, hour, product, sum(admitted), sum(refused), sum(unavailable), sum("admittedUnlogged"), sum("refusedUnlogged")
FROM json_to_recordset($1) AS row("credentialId" uuid, day date, hour smallint, product text, admitted bigint, refused bigint,
  unavailable bigint, "admittedUnlogged" bigint, "refusedUnlogged" bigint)
GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
ON CONFLICT (credential_id, day, hour, product_id) DO UPDATE SET admitted = old.admitted + excluded.admitted,
  refused = old.refused + excluded.refused, unavailable = old.unavailable + excluded.unavailable,
  admitted_unlogged = old.admitted_unlogged + excluded.admitted_unlogged,
  refused_unlogged = old.refused_unlogged + excluded.refused_unlogged`;

/** @param hours several of one key, product and hour are added up */
export async function writeKeyHours(db: Database, hours: readonly KeyHour[]): Promise<void> {
  if (hours.length > 0) await db.query({ name: 'write-key-hours', text: ADD, values: [JSON.stringify(hours)] });
}

const DAYS_KEPT = 92;

/** Deletes what is older than 92 days. */
export async function pruneKeyHours(db: Database, { now }: { now: Date }): Promise<void> {
  await db.query('DELETE FROM key_hour WHERE day < $1::timestamptz::date - $2::integer', [now, DAYS_KEPT]);
}

/** `hour` is null where whole days were asked for. */
export type KeyUsage = Omit<KeyHour, 'credentialId' | 'hour' | 'admittedUnlogged' | 'refusedUnlogged'> & {
  readonly hour: number | null;
  /** Of all of them, how many have no line in the log of requests. */
  readonly unlogged: number;
};

export interface KeyUsageQuery {
  readonly keyId: string;
  /** Both ends belong to the period; days in the quota time zone. */
  readonly fromDay: string;
  readonly toDay: string;
  readonly by: 'day' | 'hour';
}

const READ = `
SELECT to_char(day, 'YYYY-MM-DD') AS day, CASE WHEN $4 THEN hour END AS hour, product_id AS product,
  sum(admitted)::float8 AS admitted, sum(refused)::float8 AS refused, sum(unavailable)::float8 AS unavailable,
  sum(admitted_unlogged + refused_unlogged)::float8 AS unlogged
FROM key_hour WHERE credential_id = $1 AND day BETWEEN $2::date AND $3::date
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3`;

/** What was asked with one key, up to five seconds old, in the order of time; what was not asked for has no entry. */
export async function readKeyUsage(db: Database, { keyId, fromDay, toDay, by }: KeyUsageQuery): Promise<KeyUsage[]> {
  const { rows } = await db.query<KeyUsage>(READ, [keyId, fromDay, toDay, by === 'hour']);
  return rows;
}
