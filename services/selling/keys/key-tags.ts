import { type PoolClient } from 'pg';
import { type Database } from '../../../plugins/stores/postgres/database';

/** @param tags as checkTags returns them, none of which the key has */
export async function insertTags(client: PoolClient, id: string, tags: readonly string[]): Promise<void> {
  if (tags.length === 0) return;
  await client.query('INSERT INTO credential_tag (credential_id, tag) SELECT $1, unnest($2::text[])', [id, tags]);
}

/** Gives the key exactly these tags. Runs in the caller's transaction, which has locked the key. */
export async function replaceTags(client: PoolClient, id: string, tags: readonly string[]): Promise<void> {
  await client.query('DELETE FROM credential_tag WHERE credential_id = $1', [id]);
  await insertTags(client, id, tags);
}

/** Steps from each tag to the next in the index: as many steps as there are tags, however many keys have them. */
const LIST = `
WITH RECURSIVE found AS (
  (SELECT tag FROM credential_tag WHERE customer_id = $1 ORDER BY tag LIMIT 1)
  UNION ALL
  SELECT (SELECT t.tag FROM credential_tag t WHERE t.customer_id = $1 AND t.tag > found.tag ORDER BY t.tag LIMIT 1)
  FROM found WHERE found.tag IS NOT NULL
)
SELECT tag FROM found WHERE tag IS NOT NULL LIMIT $2`;

/** The tags that a customer's keys have, in order. */
export async function listTags(db: Database, customerId: string, limit: number): Promise<string[]> {
  const { rows } = await db.query<{ tag: string }>(LIST, [customerId, limit]);
  return rows.map(({ tag }) => tag);
}
