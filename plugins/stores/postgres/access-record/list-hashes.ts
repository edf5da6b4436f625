import { type Pool } from 'pg';
import { type HashSource } from '../../cache/known-hashes';

/** Keys in a page. It takes some milliseconds of the server and a fraction of one of this process. */
const PAGE = 5_000;

/** Reads only the index and returns one value, because the driver would create an object for each row. */
const SELECT = `
WITH page AS MATERIALIZED (SELECT hash FROM credential WHERE hash > $1 ORDER BY hash LIMIT ${PAGE})
SELECT COALESCE(string_agg(substring(hash FROM 1 FOR 8), '' ORDER BY hash), '') AS starts, count(*)::integer AS count,
  (SELECT hash FROM page ORDER BY hash DESC LIMIT 1) AS last, pg_is_in_recovery() AS "isCopy"
FROM page`;

interface Row {
  readonly starts: Buffer;
  readonly count: number;
  readonly last: Buffer | null;
  readonly isCopy: boolean;
}

/** The hashes of all keys, in any state, from PostgreSQL. */
export function createPostgresHashSource(pool: Pool): HashSource {
  return {
    async readHashes(after) {
      const { rows } = await pool.query<Row>({ name: 'list-hashes', text: SELECT, values: [after ?? Buffer.alloc(0)] });
      const row = rows[0];
      if (!row) throw new Error('PostgreSQL did not return a page of hashes');
      if (row.isCopy) throw new Error('PostgreSQL is a standby here, which may lag behind the change feed');
      return { starts: row.starts, next: row.count < PAGE ? undefined : (row.last ?? undefined) };
    },
  };
}
