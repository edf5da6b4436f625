import { join } from 'node:path';
import { findFreePorts } from '../cli/postgres/free-port';
import { generateApiKey } from '../plugins/core/access/api-key';
import { createContextKey } from '../plugins/core/proof/create-context-key';
import { formatSecrets, rotateSecrets } from '../plugins/core/proof/product-keys';
import { type BenchStores } from './support/bench-stores';
import { measure, type MeasuredLoad, median, start, type Started, startUpstream } from './support/load';
import { loadTable } from './support/load-table';
import { type RealKong } from '../test/support/gateway/real-kong';
import { CHAINS, type Chain, startRealKong } from './support/real-kong';

// The cost of a request on a real Kong: bare, behind Kong's own plugins for keys, groups and limits, and behind the access layer.
// Part of `npm run bench` if BENCH_KONG names the command that runs Kong; Kong's own variables (KONG_NGINX_USER) are passed on to it.
// BENCH_ANSWERS=off: the Kong with the plugin does not report responses to the plugin server.

/** The rows, in the order in which each round measures them. */
const ROWS = [
  { name: 'Kong, no plugin', chain: 'bare', key: 'good' },
  { name: 'key-auth + acl + rate-limiting (local)', chain: 'lua-local', key: 'good' },
  { name: 'key-auth + acl + rate-limiting (redis)', chain: 'lua-redis', key: 'good' },
  { name: 'the access layer on Redis', chain: 'tollgate', key: 'good' },
  { name: 'the access layer on Redis, by the lane', chain: 'lane', key: 'good' },
  { name: 'refused by key-auth: no key', chain: 'lua-redis', key: 'none' },
  { name: 'refused by the access layer: no key', chain: 'tollgate', key: 'none' },
  { name: 'refused by the lane: no key', chain: 'lane', key: 'none' },
  { name: 'refused by key-auth: unknown key', chain: 'lua-redis', key: 'unknown' },
  { name: 'refused by the access layer: unknown key', chain: 'tollgate', key: 'unknown' },
  { name: 'refused by the lane: unknown key', chain: 'lane', key: 'unknown' },
] as const;

type RowName = (typeof ROWS)[number]['name'];

const BASE: RowName = 'key-auth + acl + rate-limiting (redis)';

/** By then, Node.js and LuaJIT have compiled the code that is used often. */
const WARM_UP_SECONDS = 4;

/** The median of each figure. */
function medians(loads: readonly MeasuredLoad[]): MeasuredLoad {
  const middle = (read: (load: MeasuredLoad) => number): number => median(loads.map(read));
  return {
    name: loads[0]?.name ?? '',
    requestsPerSecond: middle((load) => load.requestsPerSecond),
    p50: middle((load) => load.p50),
    p99: middle((load) => load.p99),
    cpuMicros: Object.fromEntries(
      Object.keys(loads[0]?.cpuMicros ?? {}).map((process) => [process, middle((load) => load.cpuMicros[process] ?? NaN)]),
    ),
  };
}

export interface KongBenchOptions {
  readonly stores: BenchStores;
  /** The command that runs Kong. */
  readonly command: string;
  readonly seconds: number;
  readonly rounds: number;
}

/** Measures every row `rounds` times, in rounds of one measurement each. @returns the medians */
export async function measureRealKong({ stores, command, seconds, rounds }: KongBenchOptions): Promise<MeasuredLoad[]> {
  const { folder, databaseUrl, redisUrl, redisPid, key } = stores;
  const { url: service } = await startUpstream();
  const pluginSocket = join(folder, 'kong.sock');
  const laneSocket = join(folder, 'lane.sock');
  const [answersPort = 0] = await findFreePorts(1);
  const answersTo = process.env.BENCH_ANSWERS === 'off' ? undefined : `127.0.0.1:${answersPort}`;
  const startPlugin = (env: Record<string, string>): Promise<Started> =>
    start('plugins/server/main.js', [], {
      DATABASE_URL: databaseUrl,
      REDIS_URL: redisUrl,
      ...(process.env.BENCH_PROOF === 'EdDSA'
        ? { TOLLGATE_CONTEXT_PRIVATE_KEY: createContextKey().privateKey }
        : { TOLLGATE_CONTEXT_SECRETS: formatSecrets(rotateSecrets([]).secrets) }),
      LOG_LEVEL: 'error',
      ...env,
    });
  // One for each entrance, as in an installation.
  const plugins: Partial<Record<Chain, Started>> = {
    tollgate: await startPlugin({ PLUGIN_SOCKET: pluginSocket, ...(answersTo !== undefined && { ANSWERS_LISTEN: answersTo }) }),
    lane: await startPlugin({ PLUGIN_SOCKET: join(folder, 'beside-lane.sock'), LANE_LISTEN: laneSocket }),
  };
  const kongs = new Map<Chain, RealKong>();
  const keys = { good: key, unknown: generateApiKey('live'), none: undefined };
  const load = ({ name, chain, key: which }: (typeof ROWS)[number], duration: number): MeasuredLoad => {
    const { url = '', workerPid: gateway = 0 } = kongs.get(chain) ?? {};
    const plugin = plugins[chain]?.pid;
    const pids = { gateway, ...(plugin !== undefined && { plugin }), redis: redisPid };
    return measure({ name, url, seconds: duration, key: keys[which], pids, refused: which !== 'good' });
  };
  try {
    for (const chain of CHAINS)
      kongs.set(
        chain,
        await startRealKong({ chain, command, folder: join(folder, chain), service, pluginSocket, laneSocket, answersTo, redisUrl, key }),
      );
    for (const row of ROWS) load(row, WARM_UP_SECONDS);
    console.log('(that was the warm-up)');
    const results = Array.from({ length: rounds }, () => ROWS.map((row) => load(row, seconds)));
    return ROWS.map((_, index) => medians(results.flatMap((round) => round[index] ?? [])));
  } finally {
    for (const kong of kongs.values()) kong.stop();
  }
}

/** The medians as a table. */
export const kongTable = (loads: readonly MeasuredLoad[]): string =>
  loadTable(loads, {
    title: 'on a real Kong',
    base: BASE,
    processes: { Kong: 'gateway', 'plugin server': 'plugin', Redis: 'redis' },
  });
