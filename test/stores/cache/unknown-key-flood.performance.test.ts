import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { AccessRecordCache } from '../../../plugins/stores/cache/access-record-cache';
import { KnownHashes } from '../../../plugins/stores/cache/known-hashes';
import { PostgresChangeFeed } from '../../../plugins/stores/postgres/nodes/change-feed';
import { createPostgresAccessRecords } from '../../../plugins/stores/postgres/keys/find-access-record';
import { createPostgresHashSource } from '../../../plugins/stores/postgres/keys/list-hashes';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { eventually } from '../../support/eventually';
import { turnsDuring } from '../../support/turns-during';
import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';

const KEYS = 1_000_000;
const UNKNOWN_PER_SECOND = 20_000;
const COLD_PER_SECOND = 100;
const SECONDS = 5;

const hashOf = (key: number): string => createHash('sha256').update(String(key)).digest('hex');

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

let database: TestDatabase;
let feed: PostgresChangeFeed;
let hashes: KnownHashes;
let cache: AccessRecordCache;
let pool: ReturnType<typeof createPool>;
let nextKey = 0;

beforeAll(async () => {
  database = await testDatabase();
  await makeKeys(database);
  // As the plugin server has it.
  pool = createPool(database.url, { max: 8, min: 1, statementTimeoutMs: 2_000 });
  feed = new PostgresChangeFeed({ url: database.url });
  hashes = new KnownHashes({ source: createPostgresHashSource(pool), feed });
  cache = new AccessRecordCache({ source: createPostgresAccessRecords(pool), feed, hashes });
  await eventually(() => hashes.stats().isComplete, 60_000);
}, 900_000);
afterAll(async () => {
  cache.close();
  hashes.close();
  await feed.close();
  await pool.end();
  await database.close();
});

/** Calls `each` so often a second, in the turns that the machine allows. @returns how often a second it was */
async function drive(perSecond: number, each: () => void): Promise<number> {
  const startedAt = performance.now();
  let count = 0;
  for (let elapsed = 0; elapsed < SECONDS * 1_000; elapsed = performance.now() - startedAt) {
    for (const due = (elapsed / 1_000) * perSecond; count < due; count++) each();
    await sleep(1);
  }
  return Math.round((count / (performance.now() - startedAt)) * 1_000);
}

/** Looks up keys that this node has not seen yet. */
async function lookUpColdKeys(): Promise<{ p50: number; p99: number; failed: number; count: number }> {
  const times: number[] = [];
  const running: Promise<void>[] = [];
  let failed = 0;
  await drive(COLD_PER_SECOND, () => {
    const startedAt = performance.now();
    const note = (isFound: boolean): void => {
      if (!isFound) failed += 1;
      times.push(performance.now() - startedAt);
    };
    running.push(
      cache.findAccessRecord(hashOf(nextKey++)).then(
        (record) => note(record !== undefined),
        () => note(false),
      ),
    );
  });
  await Promise.all(running);
  times.sort((a, b) => a - b);
  const at = (share: number): number => times[Math.floor(times.length * share)] ?? Infinity;
  return { p50: at(0.5), p99: at(0.99), failed, count: times.length };
}

it('a million keys are loaded into less than 4 MB, holding the event loop for 5 ms in less than one turn of a hundred', async () => {
  // As a node does when it starts.
  const ownFeed = new PostgresChangeFeed({ url: database.url });
  const loading = new KnownHashes({ source: createPostgresHashSource(pool), feed: ownFeed });
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
    await ownFeed.close();
  }
});

it('20,000 unknown keys a second cost hardly a query, and keys that a node has not seen yet are found as fast as ever', async () => {
  await lookUpColdKeys();
  const quiet = await lookUpColdKeys();
  const before = cache.stats();
  const answers = { unknown: 0, refused: 0 };
  const random = randomBytes(32);
  const [rate, flooded] = await Promise.all([
    drive(UNKNOWN_PER_SECOND, () => {
      random.writeUInt32LE((random.readUInt32LE(0) + 2_654_435_769) >>> 0, 0);
      random.writeUInt32LE((random.readUInt32LE(4) + 1_779_033_703) >>> 0, 4);
      cache.findAccessRecord(random.toString('hex')).then(
        () => (answers.unknown += 1),
        () => (answers.refused += 1),
      );
    }),
    lookUpColdKeys(),
  ]);
  await sleep(1_000);
  const reads = cache.stats().reads - before.reads - flooded.count;
  console.log(
    `${rate} unknown keys a second: ${answers.unknown} called unknown, ${answers.refused} refused, ${reads} queries for them; ` +
      `${flooded.count} cold keys, ${flooded.failed} not found, p50 ${flooded.p50.toFixed(1)} ms, p99 ${flooded.p99.toFixed(1)} ms; ` +
      `quiet: p50 ${quiet.p50.toFixed(1)} ms, p99 ${quiet.p99.toFixed(1)} ms`,
  );
  expect(flooded.failed).toBe(0);
  expect(answers.refused).toBe(0);
  expect(reads).toBeLessThan(0.01 * answers.unknown);
  expect(flooded.p99).toBeLessThan(Math.max(2 * quiet.p99, quiet.p99 + 5));
});
