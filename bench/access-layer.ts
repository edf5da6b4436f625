import { type Pool } from 'pg';
import { setCustomerLimits } from '../services/selling/customers/customer-limits';
import { createKey } from '../services/selling/keys/create-key';
import { createPostgresAccessRecords } from '../plugins/stores/postgres/access-record/find-access-record';
import { DEMO_EMAIL } from '../services/selling/customers/join-customer';
import { hashApiKey } from '../plugins/core/access/api-key';
import { MAX_RULES } from '../plugins/core/access/max-rules';
import { startBenchNode } from './support/bench-node';
import { type BenchStores, withBenchStores } from './support/bench-stores';
import { measure, startUpstream } from './support/load';

// The cost of the access layer with 1 to 1,000,000 keys in the table, and with 1 to 1,000 rules on the key.
// Run: npm run build && node dist/bench/access-layer.js [seconds] [keys]

const SECONDS = Number(process.argv[2] ?? 5);
const MAX_KEYS = Number(process.argv[3] ?? 1_000_000);

/** Fills the table with keys that nobody holds. Triggers are off, because a million notifications are not what is measured. */
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

/** Mean time in microseconds of a look-up that no cache can serve. */
async function coldLookUp(db: Pool, key: string): Promise<number> {
  const records = createPostgresAccessRecords(db);
  const hash = hashApiKey(key);
  const rounds = 500;
  await records.findAccessRecord(hash);
  const from = performance.now();
  for (let round = 0; round < rounds; round++) await records.findAccessRecord(hash);
  return ((performance.now() - from) * 1000) / rounds;
}

async function main({ folder, db, databaseUrl, redisUrl, key: first }: BenchStores): Promise<void> {
  const { url: service } = await startUpstream();
  await setCustomerLimits(db, { customer: DEMO_EMAIL, limits: { keys: 2 * MAX_KEYS + 100 }, actor: 'bench' });
  const { base, pids } = await startBenchNode({ folder, name: 'redis', service, databaseUrl, redisUrl });
  const load = (name: string, key: string): unknown => measure({ name, url: `${base}/guarded?a=1`, seconds: SECONDS, key, pids });
  load('warm-up', first);
  for (const count of [1, 1_000, MAX_KEYS].filter((each) => each <= MAX_KEYS)) {
    if (count > 1) await fillKeys(db, count);
    const cold = await coldLookUp(db, first);
    load(`keys in the table: ${count}`, first);
    console.log(`${''.padEnd(34)} a look-up past the cache: ${cold.toFixed(0)} µs`);
  }
  for (const count of [1, 100, MAX_RULES]) {
    const rules = Array.from({ length: count - 1 }, (_, index) => `10.${index >> 8}.${index & 255}.0/24`);
    const options = { customer: DEMO_EMAIL, products: ['api-ip'], actor: 'bench', rules: [...rules, '127.0.0.1'] };
    load(`rules on the key: ${count}`, (await createKey(db, options)).key);
  }
}

void withBenchStores(main);
