import { type ChildProcess, fork } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { cpSync, readdirSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { type TestDatabase, testDatabase } from '../../support/postgres/postgres';
import { runFolder } from '../../support/run-folder';
import { anyTestRedis } from '../../support/redis/redis';

const ROOT = resolve(__dirname, '../../..');

/** Compiles the spender and all that it needs, without touching dist/. */
async function compileSpender(): Promise<string> {
  const outdir = join(runFolder(), 'spender');
  const stores = join(ROOT, 'plugins/stores');
  const sources = readdirSync(join(ROOT, 'plugins'), { recursive: true, encoding: 'utf8' }).filter((path) =>
    /^(core|stores)\/.*\.ts$/.test(path),
  );
  const own = ['spender.ts', 'harness.ts', 'patient-clock.ts'].map((name) => join(__dirname, name));
  const entryPoints = [...sources.map((path) => join(ROOT, 'plugins', path)), ...own];
  await build({ entryPoints, outdir, outbase: ROOT, format: 'cjs', platform: 'node', target: 'node20', logLevel: 'error' });
  cpSync(join(stores, 'redis/quota-counter.lua'), join(outdir, 'plugins/stores/redis/quota-counter.lua'));
  return join(outdir, relative(ROOT, __dirname), 'spender.js');
}

function nextMessage(child: ChildProcess): Promise<unknown> {
  return new Promise((resolve, reject) => {
    child.once('message', resolve);
    child.once('exit', (code) => reject(new Error(`a spender ended with ${code}`)));
  });
}

describe('three processes on one store', () => {
  let database: TestDatabase;
  let redis: Awaited<ReturnType<typeof anyTestRedis>>;
  let script: string;
  beforeAll(async () => {
    [database, redis, script] = await Promise.all([testDatabase(), anyTestRedis(), compileSpender()]);
  });
  afterAll(async () => {
    await redis.close();
    await database.close();
  });

  async function spendFromThree(redisUrl: string | undefined, left: number): Promise<number> {
    const request = { subscriptionId: randomUUID(), limits: { daily: left, monthly: 1_000_000 } };
    const children = [1, 2, 3].map(() => fork(script, { execArgv: [] }));
    try {
      const ready = children.map((child) => nextMessage(child));
      for (const child of children) child.send({ databaseUrl: database.url, redisUrl, request, times: 1_000 });
      await Promise.all(ready);
      const answers = children.map((child) => nextMessage(child));
      for (const child of children) child.send('go');
      const totals = (await Promise.all(answers)) as { granted: number }[];
      return totals.reduce((sum, { granted }) => sum + granted, 0);
    } finally {
      for (const child of children) child.kill('SIGKILL');
    }
  }

  it('grants exactly what is left, in Redis', async () => {
    await expect(spendFromThree(redis.url, 777)).resolves.toBe(777);
  });

  it('grants exactly what is left, in Postgres', async () => {
    await expect(spendFromThree(undefined, 777)).resolves.toBe(777);
  });
});
