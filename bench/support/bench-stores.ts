import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Pool } from 'pg';
import { startEmbeddedPostgres } from '../../cli/postgres/embedded-postgres';
import { migrate } from '../../plugins/stores/postgres/migrate';
import { createPool } from '../../plugins/stores/postgres/pool';
import { createKey } from '../../services/selling/keys/create-key';
import { applyCatalogue } from '../../services/selling/catalogue/apply-catalogue';
import { DEMO_EMAIL, ensureCustomer } from '../../services/selling/customers/join-customer';
import { startTestRedis } from '../../test/support/redis/redis';
import { stopAll } from './load';
import { CATALOGUE } from '../../test/support/catalogue';

/** The stores of a benchmark: both empty except for the catalogue and the demo customer. */
export interface BenchStores {
  /** Folder for sockets and configuration. */
  readonly folder: string;
  readonly db: Pool;
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly redisPid: number;
  /** The demo customer's key for api-ip. It does not expire. */
  readonly key: string;
}

/** More requests a day than any run sends. */
export const NO_LIMIT = 1_000_000_000;

/** Runs `work` on stores of its own and leaves nothing behind, also when it fails: no process, no file. */
export async function withBenchStores(work: (stores: BenchStores) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-bench-'));
  const closers: (() => Promise<unknown>)[] = [];
  try {
    const postgres = await startEmbeddedPostgres({ dataDir: join(folder, 'postgres') });
    closers.push(() => postgres.stop());
    const redis = await startTestRedis();
    closers.push(() => redis.close());
    await migrate(postgres.url);
    const db = createPool(postgres.url, { max: 4 });
    closers.push(() => db.end(), stopAll);
    await applyCatalogue(db, CATALOGUE, { actor: 'test' });
    await ensureCustomer(db, { email: DEMO_EMAIL, actor: 'bench' });
    const redisPid = Number(/process_id:(\d+)/.exec(String(await redis.command('INFO', 'server')))?.[1]);
    const limits = { daily: NO_LIMIT, monthly: NO_LIMIT };
    const { key } = await createKey(db, { customer: DEMO_EMAIL, products: ['api-ip'], actor: 'bench', ...limits });
    await work({ folder, db, databaseUrl: postgres.url, redisUrl: redis.url, redisPid, key });
  } catch (error) {
    console.error(error);
    process.exitCode = 1;
  } finally {
    for (const close of closers.reverse()) await close();
    rmSync(folder, { recursive: true, force: true });
  }
}
