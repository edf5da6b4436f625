import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type Pool } from 'pg';
import { createKey } from '../../plugins/stores/postgres/create-key';
import { startEmbeddedPostgres } from '../../plugins/stores/postgres/embedded-postgres';
import { createPostgresAccessRecords } from '../../plugins/stores/postgres/find-access-record';
import { migrate } from '../../plugins/stores/postgres/migrate';
import { createPool } from '../../plugins/stores/postgres/pool';
import { seedCatalogue } from '../../plugins/stores/postgres/seed-catalogue';
import { DEMO_EMAIL, seedDemoCustomer } from '../../plugins/stores/postgres/seed-demo-customer';
import { hashApiKey } from '../../plugins/core/api-key';
import { startTestRedis } from '../support/redis';
import { measure, start, stopAll, type Load } from './support/load';

// What the whole access layer costs: the local gateway without it, with it counting in Redis, with it counting in Postgres; then how the
// cost moves from 1 to 1,000,000 keys in the table and from 1 to 10,000 rules on the key.
// Run: npm run build && node dist/test/bench/access-layer.js [seconds] [keys]

const SECONDS = Number(process.argv[2] ?? 5);
const MOST_KEYS = Number(process.argv[3] ?? 1_000_000);
const BIG = 1_000_000_000;
const project = resolve(__dirname, '../../..');
const signingKeys = `bench:${randomBytes(32).toString('base64')}`;

interface Node {
  readonly base: string;
  readonly pids: Record<string, number>;
}

/** One plugin server and one gateway with a guarded and a bare route to the same service. */
async function startNode(folder: string, name: string, service: string, stores: { databaseUrl: string; redisUrl: string }): Promise<Node> {
  const socket = join(folder, `${name}.sock`);
  const plugin = await start('plugins/server/main.js', [], {
    DATABASE_URL: stores.databaseUrl,
    REDIS_URL: stores.redisUrl,
    TOLLGATE_SIGNING_KEYS: signingKeys,
    PLUGIN_SOCKET: socket,
    LOG_LEVEL: 'error',
  });
  const route = (path: string): object => ({ name: path, paths: [`~/${path}(?:/.*)?$`], strip_path: false });
  const kongYml = join(folder, `${name}.yml`);
  const services = [
    { name: 'bare', url: service, routes: [route('bare')] },
    { name: 'guarded', url: service, routes: [route('guarded')], plugins: [{ name: 'access-layer', config: { products: ['api-ip'] } }] },
  ];
  writeFileSync(kongYml, JSON.stringify({ _format_version: '3.0', services }));
  const gateway = await start('kong/local/main.js', [
    '--port', '0', '--kong-yml', kongYml, '--kong-conf', join(project, 'kong/kong.conf'),
    '--plugin-info', join(project, 'kong/access-layer.json'), '--plugin-socket', socket,
  ]); // prettier-ignore
  const { port } = JSON.parse(gateway.line) as { port: number };
  return { base: `http://127.0.0.1:${port}`, pids: { gateway: gateway.pid, plugin: plugin.pid } };
}

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
    ...(rules.length === 0 ? { daily: BIG, monthly: BIG } : {}),
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

async function main(folder: string): Promise<void> {
  const upstream = await start('test/bench/support/stub-upstream.js');
  const service = `http://127.0.0.1:${upstream.line}`;
  const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres') });
  const redis = await startTestRedis();
  await migrate(postgres.url);
  const db = createPool(postgres.url, { max: 4 });
  await seedCatalogue(db);
  await seedDemoCustomer(db);
  const { key } = await newKey(db);
  const onRedis = await startNode(folder, 'redis', service, { databaseUrl: postgres.url, redisUrl: redis.url });
  const onPostgres = await startNode(folder, 'postgres', service, { databaseUrl: postgres.url, redisUrl: '' });
  const run = (name: string, node: Node, path: string, by = key): Load =>
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

  await stopAll();
  await db.end();
  await redis.close();
  await postgres.stop();
}

const folder = mkdtempSync(join(tmpdir(), 'access-layer-bench-'));
main(folder)
  .catch(async (error: unknown) => {
    console.error(error);
    process.exitCode = 1;
    await stopAll();
  })
  .finally(() => rmSync(folder, { recursive: true, force: true }));
