import { type Pool } from 'pg';

const DAYS_KEPT = 7;
/** 4.6 GB with indexes. A node that decides thousands of requests a second must not fill the disk within the week. */
const MAX_ROWS = 5_000_000;
/** Share of rows without a known key. Anybody can cause any number of them, and customers' own rows would be deleted sooner. */
const ANONYMOUS_SHARE = 0.05;
/** Small transactions, so that the log can be written meanwhile and each stays far below the time-out. */
const BATCH = 10_000;
/** An arbitrary number that nothing else locks. The lock lets one node at a time prune. */
const LOCK = 720_260_001;

const DELETE = `
WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${LOCK}) AS mine)
DELETE FROM decision WHERE (SELECT mine FROM turn)
AND ctid = ANY (ARRAY(SELECT ctid FROM decision WHERE at < $1 ORDER BY at LIMIT $2))`;

const DELETE_ANONYMOUS = `
WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(${LOCK}) AS mine),
surplus AS (SELECT at FROM decision WHERE customer_id IS NULL ORDER BY at DESC OFFSET $1 LIMIT 1)
DELETE FROM decision WHERE (SELECT mine FROM turn)
AND ctid = ANY (ARRAY(SELECT ctid FROM decision WHERE customer_id IS NULL AND at <= (SELECT at FROM surplus) ORDER BY at LIMIT $2))`;

/** The planner's estimate, kept by autovacuum; counting would read the whole table. -1 before the first analysis. */
const ESTIMATE = `SELECT reltuples::float8 AS rows FROM pg_class WHERE oid = 'decision'::regclass`;

async function deleteOldest(pool: Pool, { before, most }: { before: Date; most: number }): Promise<number> {
  let deleted = 0;
  while (deleted < most) {
    const wanted = Math.min(BATCH, most - deleted);
    const { rowCount } = await pool.query(DELETE, [before, wanted]);
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < wanted) break;
  }
  return deleted;
}

async function deleteAnonymous(pool: Pool, kept: number): Promise<number> {
  for (let deleted = 0; ;) {
    const { rowCount } = await pool.query(DELETE_ANONYMOUS, [kept, BATCH]);
    deleted += rowCount ?? 0;
    if ((rowCount ?? 0) < BATCH) return deleted;
  }
}

/**
 * Deletes decisions older than 7 days, and the oldest decisions beyond the maximum. It first deletes those without a known key beyond a
 * twentieth of the maximum.
 * @returns the number of deleted rows
 */
export async function pruneDecisions(pool: Pool, { now, mostRows = MAX_ROWS }: { now: Date; mostRows?: number }): Promise<number> {
  const { rows } = await pool.query<{ rows: number }>(ESTIMATE);
  const old = await deleteOldest(pool, { before: new Date(now.getTime() - DAYS_KEPT * 86_400_000), most: Infinity });
  const anonymous = await deleteAnonymous(pool, Math.floor(mostRows * ANONYMOUS_SHARE));
  const surplus = Math.ceil((rows[0]?.rows ?? 0) - old - anonymous - mostRows);
  return old + anonymous + (await deleteOldest(pool, { before: now, most: surplus }));
}
