import { join } from 'node:path';
import { Redis } from 'ioredis';
import { type Pool } from 'pg';
import { GATEWAY_KINDS, type GatewayKind } from '../kong/gateways/render';
import { findFreePorts } from '../cli/postgres/free-port';
import { processTree } from '../test/support/system/child-processes';
import { startBenchNode } from './support/bench-node';
import { type BenchStores, withBenchStores } from './support/bench-stores';
import { measure, type MeasuredLoad, start, startUpstream } from './support/load';
import { SERVICE_NAMES } from '../services/products/registry';

// The cost of a request behind nginx (with and without Lua), Caddy and HAProxy, compared with the local gateway and Kong's plugin protocol,
// in one run on the same stores; and the load on Redis and PostgreSQL.
// Run: npm run build && node dist/bench/gateways.js [seconds] [rounds] [kind,…]

/** Ids of the gateway's processes below the one that started it, by name. */
function processesBelow(pid: number): Record<string, number> {
  const [, ...below] = processTree(pid);
  return Object.fromEntries(below.map((child, index) => [`gateway ${index + 1}`, child]));
}

interface Target {
  readonly name: string;
  readonly url: string;
  readonly pids: Readonly<Record<string, number>>;
}

const socketsIn = (folder: string): Record<string, string> => ({
  FORWARD_AUTH_LISTEN: join(folder, 'forward-auth.sock'),
  LANE_LISTEN: join(folder, 'lane.sock'),
});

async function startGateway(kind: GatewayKind, { folder, service }: Record<'folder' | 'service', string>): Promise<Target> {
  const [port = 0] = await findFreePorts(1);
  const started = await start('kong/gateways/main.js', [], {
    GATEWAY_KIND: kind,
    GATEWAY_PORT: String(port),
    GATEWAY_DIR: join(folder, kind),
    ...socketsIn(folder),
    ANSWERS_TO: '127.0.0.1:9',
    KONG_YML: join('kong', 'kong.yml'),
    UPSTREAM_OVERRIDES: JSON.stringify(Object.fromEntries(SERVICE_NAMES.map((name) => [name, service]))),
  });
  return { name: `${kind}, asking the access layer`, url: `http://127.0.0.1:${port}/ip?a=1`, pids: processesBelow(started.pid) };
}

/** Index scans of the table of keys, and script calls in Redis. */
async function readCounts(db: Pool, redis: Redis): Promise<{ reads: number; scripts: number }> {
  const { rows } = await db.query<{ reads: string }>("SELECT sum(idx_scan) AS reads FROM pg_stat_user_tables WHERE relname = 'credential'");
  const stats = await redis.info('commandstats');
  const scripts = [...stats.matchAll(/cmdstat_evalsha:calls=(\d+)/g)].reduce((sum, [, calls]) => sum + Number(calls), 0);
  return { reads: Number(rows[0]?.reads ?? 0), scripts };
}

interface Plan {
  readonly seconds: number;
  readonly rounds: number;
  readonly kinds: readonly GatewayKind[];
}

async function measureGateways({ folder, db, databaseUrl, redisUrl, key }: BenchStores, { seconds, rounds, kinds }: Plan): Promise<void> {
  const { url: service } = await startUpstream();
  const node = await startBenchNode({ folder, service, databaseUrl, name: 'redis', redisUrl, env: socketsIn(folder) });
  const plugin = { 'plugin server': node.pids['plugin'] ?? 0 };
  const targets: Target[] = [{ name: 'local gateway', url: `${node.base}/guarded?a=1`, pids: { gateway: node.pids['gateway'] ?? 0 } }];
  for (const kind of kinds) targets.push(await startGateway(kind, { folder, service }));
  const load = ({ name, url, pids }: Target, duration: number): MeasuredLoad =>
    measure({ name, url, key, seconds: duration, pids: { ...pids, ...plugin } });
  for (const target of targets) load(target, 1);
  console.log('(that was the warm-up)');
  const redis = new Redis(redisUrl);
  for (let round = 0; round < rounds; round++) {
    for (const target of targets) {
      const before = await readCounts(db, redis);
      const { requestsPerSecond } = load(target, seconds);
      const after = await readCounts(db, redis);
      const requests = requestsPerSecond * seconds;
      const perRequest = ((after.scripts - before.scripts) / requests).toFixed(2);
      measure({
        name: `${target.name}: refused`,
        url: target.url,
        key: undefined,
        refused: true,
        seconds,
        pids: { ...target.pids, ...plugin },
      });
      console.log(`    Redis scripts a request ${perRequest}, keys read from PostgreSQL in all ${after.reads - before.reads}`);
    }
  }
  redis.disconnect();
}

const [seconds = '5', rounds = '3', wanted] = process.argv.slice(2);
const kinds = GATEWAY_KINDS.filter((kind) => wanted?.split(',').includes(kind) ?? true);
void withBenchStores((stores) => measureGateways(stores, { seconds: Number(seconds), rounds: Number(rounds), kinds }));
