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

/**
 * Runs after the hours and in sorted order, here and where responses are counted, so that two writers do not wait for each other. A key
 * without a customer has hours only.
 */
const ADD_DAYS = `
INSERT INTO customer_day AS old (customer_id, day, product_id, admitted)
SELECT customer_id, day, product, sum(admitted)
FROM json_to_recordset($1) AS row("credentialId" uuid, day date, product text, admitted bigint)
  JOIN credential ON credential.id = "credentialId"
WHERE admitted > 0
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
ON CONFLICT (customer_id, day, product_id) DO UPDATE SET admitted = old.admitted + excluded.admitted`;

/**
 * Adds to the hours of keys and to the days of their customers. Call it within a transaction.
 * @param hours several entries of one key, product and hour are added up
 */
export async function writeKeyHours(db: Database, hours: readonly KeyHour[]): Promise<void> {
  if (hours.length === 0) return;
  const values = [JSON.stringify(hours)];
  await db.query({ name: 'write-key-hours', text: ADD, values });
  await db.query({ name: 'write-customer-days', text: ADD_DAYS, values });
}

const DAYS_KEPT = 92;

/** Deletes hours and days that are older than 92 days. */
export async function pruneKeyHours(db: Database, { now }: { now: Date }): Promise<void> {
  for (const table of ['key_hour', 'customer_day'])
    await db.query(`DELETE FROM ${table} WHERE day < $1::timestamptz::date - $2::integer`, [now, DAYS_KEPT]);
}
