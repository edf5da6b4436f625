import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createContextKey } from '../../plugins/core/proof/create-context-key';
import { createKey } from '../../plugins/stores/postgres/keys/create-key';
import { DEMO_EMAIL } from '../../plugins/stores/postgres/customers/join-customer';
import { NO_LIMIT, withBenchStores, type BenchStores } from './support/bench-stores';
import { runEvents, startInstance, type BenchRequest } from './support/kong-side';
import { cpuMicros, start, stopAll } from './support/load';

// What a request costs the plugin server with one worker and with two, by CPU time: on a machine whose cores are shared with the load, requests a
// second would show the load. Each worker gets the same number of requests a second: one that has more to do serves several at each wake-up, and
// they cost less. Then its memory while a million requests are refused, with traffic beside them.
// Run: npm run build && node dist/test/bench/workers.js [events] [refusals]

const EVENTS = Number(process.argv[2] ?? 100_000);
const REFUSALS = Number(process.argv[3] ?? 1_000_000);
const CONNECTIONS = 32;
const WARM_UP = 5_000;
/** With as many connections for each worker some 1,500 requests a second, which leaves even two workers time to rest. */
const REST_MS = 20;

function processesOf(parent: number): number[] {
  const children = readdirSync(`/proc/${String(parent)}/task`).flatMap((task) =>
    readFileSync(`/proc/${String(parent)}/task/${task}/children`, 'utf8')
      .split(' ')
      .filter(Boolean)
      .map(Number),
  );
  return [parent, ...children];
}

const rssMebibytes = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${String(pid)}/status`, 'utf8'))?.[1]) / 1024;

const hex = (value: number): string => value.toString(16).padStart(32, '0');

/** @returns hands out `count` requests, each with an id of its own */
function requests(count: number, key?: string): () => BenchRequest | undefined {
  let left = count;
  return () => (left-- > 0 ? { requestId: hex(left), ...(key !== undefined && { key }) } : undefined);
}

interface Server {
  readonly socketPath: string;
  readonly instanceId: number;
  readonly pids: readonly number[];
}

async function startServer({ folder, databaseUrl, redisUrl }: BenchStores, workers: number): Promise<Server> {
  const socketPath = join(folder, `workers-${String(workers)}.sock`);
  const { pid } = await start('plugins/server/main.js', [], {
    DATABASE_URL: databaseUrl,
    REDIS_URL: redisUrl,
    TOLLGATE_CONTEXT_PRIVATE_KEY: createContextKey().privateKey,
    PLUGIN_SOCKET: socketPath,
    PLUGIN_SERVER_WORKERS: String(workers),
    LOG_LEVEL: 'error',
    // As docker-compose.yml and npm start say.
    NODE_OPTIONS: '--max-semi-space-size=4',
  });
  return { socketPath, instanceId: await startInstance(socketPath, { products: ['api-ip'] }), pids: processesOf(pid) };
}

/** @returns CPU microseconds an admitted request, of all its processes, each with as many connections as the one alone has */
async function cpuPerRequest(server: Server, key: string): Promise<number> {
  const workers = Math.max(1, server.pids.length - 1);
  const connections = CONNECTIONS * workers;
  await runEvents({ ...server, connections, next: requests(WARM_UP, key) });
  const total = (): number => server.pids.reduce((sum, pid) => sum + cpuMicros(pid), 0);
  const [from, before] = [performance.now(), total()];
  const { admitted } = await runEvents({ ...server, connections, restMs: REST_MS, next: requests(EVENTS * workers, key) });
  const cpu = (total() - before) / admitted;
  const perSecond = (admitted * 1000) / (performance.now() - from);
  console.log(
    `${String(server.pids.length)} processes: ${String(admitted)} admitted, ${cpu.toFixed(1)} µs CPU each, ${perSecond.toFixed(0)}/s`,
  );
  return cpu;
}

async function measureMemory(server: Server, key: string): Promise<void> {
  const atRest = Math.max(...server.pids.map(rssMebibytes)).toFixed(0);
  let isOver = false;
  const beside = requests(Infinity, key);
  const traffic = runEvents({ ...server, connections: 4, next: () => (isOver ? undefined : beside()) });
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, ...server.pids.map(rssMebibytes))), 500);
  const { refused } = await runEvents({ ...server, connections: CONNECTIONS, next: requests(REFUSALS) });
  isOver = true;
  clearInterval(watch);
  const { admitted } = await traffic;
  const rest = Math.max(...server.pids.map(rssMebibytes)).toFixed(0);
  console.log(
    `${String(refused)} refused beside ${String(admitted)} admitted: ${atRest} MiB before, at most ${most.toFixed(0)} MiB, ${rest} MiB at the end`,
  );
}

async function main(stores: BenchStores): Promise<void> {
  const { key } = await createKey(stores.db, {
    customer: DEMO_EMAIL, products: ['api-ip'], actor: 'bench', daily: NO_LIMIT, monthly: NO_LIMIT,
  }); // prettier-ignore
  const one = await cpuPerRequest(await startServer(stores, 1), key);
  const two = await cpuPerRequest(await startServer(stores, 2), key);
  console.log(`two workers do ${((2 * one) / two).toFixed(2)} times what one does for the same CPU time of each`);
  await stopAll();
  await measureMemory(await startServer(stores, 1), key);
}

void withBenchStores(main);
