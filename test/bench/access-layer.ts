import { type Pool } from 'pg';
import { setCustomerLimits } from '../../plugins/stores/postgres/customers/customer-limits';
import { createKey } from '../../plugins/stores/postgres/keys/create-key';
import { createPostgresAccessRecords } from '../../plugins/stores/postgres/keys/find-access-record';
import { DEMO_EMAIL } from '../../plugins/stores/postgres/customers/join-customer';
import { hashApiKey } from '../../plugins/core/access/api-key';
import { type BenchNode, startBenchNode } from './support/bench-node';
import { type BenchStores, NO_LIMIT, withBenchStores } from './support/bench-stores';
import { measure, start, type Load } from './support/load';

// What the whole access layer costs: the local gateway without it, with it counting in Redis, with it counting in Postgres; then how the
// cost moves from 1 to 1,000,000 keys in the table and from 1 to 10,000 rules on the key.
// Run: npm run build && node dist/test/bench/access-layer.js [seconds] [keys]

const SECONDS = Number(process.argv[2] ?? 5);
const MOST_KEYS = Number(process.argv[3] ?? 1_000_000);

/** Fills the table with keys that nobody holds; triggers are off, because a million notifications are not what is measured. */
async function fillKeys(db: Pool, count: number): Promise<void> {
  await db.query('ALTER TABLE credential DISABLE TRIGGER USER');
  await db.query(
    `INSERT INTO credential (customer_id, hash, prefix, last_four, mode)
     SELECT (SELECT id FROM customer LIMIT 1), sha256(convert_to('bench ' || n, 'UTF8')), '', '', 'live'
     FROM generate_series((SELECT count(*) FROM credential) + 1, $1) AS n`,
    [count],
  );
  await db.query('ALTER TABLE credential ENABLE TRIGGER USER');
  await db.query('ANALYZE credential');
}

const newKey = (db: Pool, rules: string[] = []): Promise<{ key: string }> =>
  createKey(db, {
    customer: DEMO_EMAIL,
    products: ['api-ip'],
    actor: 'bench',
    rules,
    ...(rules.length === 0 ? { daily: NO_LIMIT, monthly: NO_LIMIT } : {}),
  });

/** Mean time of a look-up that no cache can answer, in microseconds. */
async function coldLookUp(db: Pool, key: string): Promise<number> {
  const records = createPostgresAccessRecords(db);
  const hash = hashApiKey(key);
  const rounds = 500;
  await records.findAccessRecord(hash);
  const from = performance.now();
  for (let round = 0; round < rounds; round++) await records.findAccessRecord(hash);
  return ((performance.now() - from) * 1000) / rounds;
}

async function measureCurves(db: Pool, load: (name: string, key: string) => Load, first: string): Promise<void> {
  for (const count of [1, 1_000, MOST_KEYS].filter((each) => each <= MOST_KEYS)) {
    if (count > 1) await fillKeys(db, count);
    const cold = await coldLookUp(db, first);
    load(`keys in the table: ${count}`, first);
    console.log(`${''.padEnd(34)} a look-up past the cache: ${cold.toFixed(0)} µs`);
  }
  for (const count of [1, 100, 10_000]) {
    const rules = Array.from({ length: count - 1 }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`);
    const { key } = await newKey(db, [...rules, '127.0.0.1']);
    load(`rules on the key: ${count}`, key);
  }
}

async function main({ folder, db, databaseUrl, redisUrl }: BenchStores): Promise<void> {
  const upstream = await start('test/bench/support/stub-upstream.js');
  const service = `http://127.0.0.1:${upstream.line}`;
  await setCustomerLimits(db, { customer: DEMO_EMAIL, limits: { keys: 2 * MOST_KEYS + 100, rulesPerKey: 10_000 }, actor: 'bench' });
  const { key } = await newKey(db);
  const onRedis = await startBenchNode({ folder, name: 'redis', service, databaseUrl, redisUrl });
  const onPostgres = await startBenchNode({ folder, name: 'postgres', service, databaseUrl, redisUrl: '' });
  const run = (name: string, node: BenchNode, path: string, by = key): Load =>
    measure({ name, url: `${node.base}/${path}?a=1`, seconds: SECONDS, key: by, pids: node.pids });

  run('warm-up', onRedis, 'guarded');
  run('warm-up', onPostgres, 'guarded');
  measure({ name: 'service alone', url: service, seconds: SECONDS, key, pids: { upstream: upstream.pid } });
  const bare = run('gateway without the access layer', onRedis, 'bare');
  const withRedis = run('with it, Redis counts', onRedis, 'guarded');
  const withPostgres = run('with it, Postgres counts', onPostgres, 'guarded');
  const ratio = (load: Load): string => (load.requestsPerSecond / bare.requestsPerSecond).toFixed(2);
  console.log(`with / without: ${ratio(withRedis)} on Redis, ${ratio(withPostgres)} on Postgres`);
  await measureCurves(db, (name, by) => run(name, onRedis, 'guarded', by), key);
}

void withBenchStores(main);
