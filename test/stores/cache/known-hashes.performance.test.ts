import { KnownHashes } from '../../../plugins/stores/cache/known-hashes';
import { PostgresChangeFeed } from '../../../plugins/stores/postgres/nodes/change-feed';
import { createPostgresHashSource } from '../../../plugins/stores/postgres/keys/list-hashes';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { eventually } from '../../support/eventually';
import { turnsDuring } from '../../support/turns-during';
import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';

const KEYS = 1_000_000;

/** A statement ends in its time on a slow disk too. */
const KEYS_AT_ONCE = 50_000;
/** The dashboard's lists, which nobody asks for here; keeping them takes most of the time that a million keys take. */
const LIST_INDEXES = ['mode_order', 'state_order', 'name_order', 'expiry_order', 'customer_created', 'last_four'];

/** All keys of one customer, made without a word to the feed. */
async function makeKeys({ pool }: TestDatabase): Promise<void> {
  const client = await pool.connect();
  await client.query(`DROP INDEX ${LIST_INDEXES.map((name) => `credential_${name}_idx`).join(', ')}`);
  await client.query("SET session_replication_role = 'replica'");
  const { rows } = await client.query<{ id: string }>("INSERT INTO customer (email) VALUES ('many@example.com') RETURNING id");
  for (let from = 0; from < KEYS; from += KEYS_AT_ONCE) {
    await client.query(
      `INSERT INTO credential (customer_id, hash, prefix, last_four, mode)
       SELECT $1, sha256(number::text::bytea), 'tg_live', 'abcd', 'live' FROM generate_series($2::integer, $3::integer) AS number`,
      [rows[0]?.id, from, from + KEYS_AT_ONCE - 1],
    );
  }
  await client.query('VACUUM ANALYZE credential');
  client.release(true);
}

it('a million keys are loaded into less than 4 MB, holding the event loop for 5 ms in less than one turn of a hundred', async () => {
  const database = await testDatabase();
  await makeKeys(database);
  // As a plugin server does when it starts.
  const pool = createPool(database.url, { max: 8, min: 1, statementTimeoutMs: 2_000 });
  const feed = new PostgresChangeFeed({ url: database.url });
  const loading = new KnownHashes({ source: createPostgresHashSource(pool), feed });
  try {
    const startedAt = performance.now();
    const turns = await turnsDuring(() => eventually(() => loading.stats().isComplete, 60_000), setTimeout);
    const tookMs = performance.now() - startedAt;
    const long = turns.filter((ms) => ms > 5).length;
    const { keys, bytes } = loading.stats();
    console.log(
      `${keys} keys in ${bytes} bytes after ${tookMs.toFixed(0)} ms; of ${turns.length} turns ${long} over 5 ms, ` +
        `the longest ${turns.at(-1)?.toFixed(1)} ms`,
    );
    expect(keys).toBeGreaterThan(0.99 * KEYS);
    expect(bytes).toBeLessThan(4_000_000);
    // The collector of garbage, whose threads count as well, has some turns of its own.
    expect(long).toBeLessThan(turns.length / 100);
  } finally {
    loading.close();
    await feed.close();
    await pool.end();
    await database.close();
  }
}, 900_000);
