import { Pool, type PoolClient } from 'pg';

/** A pool, or a client that is already inside the caller's transaction. */
export type Database = Pool | PoolClient;

/**
 * Runs `work` in one transaction. If `db` is a client, it counts as already in the caller's transaction, which the caller commits or rolls
 * back.
 */
export async function inTransaction<T>(db: Database, work: (client: PoolClient) => Promise<T>): Promise<T> {
  if (!(db instanceof Pool)) return work(db);
  const client = await db.connect();
  let broken: Error | undefined;
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK').catch((cause: unknown) => (broken = cause instanceof Error ? cause : new Error('rollback failed')));
    throw error;
  } finally {
    client.release(broken);
  }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** PostgreSQL raises an error for other text in place of a uuid; such text should read as an unknown id instead. */
export function isUuid(text: string): boolean {
  return UUID.test(text);
}
