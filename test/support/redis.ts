import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';

/** A Redis server of one test file. */
export interface TestRedis {
  readonly url: string;
  /** Keeps its data over `stop` and `start` when started with `persistent`. */
  start(this: void): Promise<void>;
  /** SIGKILL: connections break, nothing is saved beyond the append-only file. */
  kill(this: void): Promise<void>;
  /** SIGSTOP: connections stay, nothing is answered. */
  freeze(this: void): void;
  thaw(this: void): void;
  /** Empties it under its clients. */
  flush(this: void): Promise<void>;
  /** Runs one command on a connection of its own. */
  command(name: string, ...args: string[]): Promise<unknown>;
  close(): Promise<void>;
}

/** `redis-server` on the PATH; as root it is installed when missing. */
function findServer(): string {
  const find = (): string => execFileSync('sh', ['-c', 'command -v redis-server'], { encoding: 'utf8' }).trim();
  try {
    return find();
  } catch {
    if (process.getuid?.() !== 0)
      throw new Error('These tests need redis-server: install it (apt-get install redis-server) or set REDIS_URL.');
    execFileSync('sh', ['-c', 'apt-get update -qq && apt-get install -y -qq --no-install-recommends redis-server'], { stdio: 'ignore' });
    return find();
  }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer().once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => (address && typeof address === 'object' ? resolve(address.port) : reject(new Error('no port'))));
    });
  });
}

async function withClient<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  redis.on('error', () => undefined);
  await redis.connect();
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

async function waitUntilReady(url: string): Promise<void> {
  for (let tries = 0; ; tries++) {
    try {
      await withClient(url, (redis) => redis.ping());
      return;
    } catch (cause) {
      if (tries >= 100) throw new Error('redis-server did not start', { cause });
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

/** The slots of other masters are served while one is away, which its fellows find out within a second. */
const CLUSTER_ARGUMENTS = ['--cluster-require-full-coverage', 'no', '--cluster-node-timeout', '1000'];

async function formCluster(redis: Redis): Promise<void> {
  await redis.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383');
  for (let tries = 0; tries < 200; tries++) {
    if (String(await redis.call('CLUSTER', 'INFO')).includes('cluster_state:ok')) return;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
  throw new Error('the cluster of one did not form');
}

function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

/**
 * A server of its own on a free port, since tests stop, kill and empty it.
 * @param options.persistent keeps an append-only file; otherwise a restart is an empty server
 * @param options.cluster a cluster of one, which refuses commands that would span slots, or a node that joins others
 */
export async function startTestRedis(options: { persistent?: boolean; cluster?: 'alone' | 'node' } = {}): Promise<TestRedis> {
  const binary = findServer();
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-redis-'));
  const url = `redis://127.0.0.1:${port}`;
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--loglevel', 'warning'];
  if (options.cluster) args.push('--cluster-enabled', 'yes', '--cluster-port', String(await freePort()), ...CLUSTER_ARGUMENTS);
  if (options.persistent) args.push('--appendonly', 'yes', '--appendfsync', 'always');
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn(binary, args, { stdio: 'ignore' });
    await waitUntilReady(url);
    if (options.cluster === 'alone') await withClient(url, formCluster);
  };
  const kill = async (): Promise<void> => {
    if (!child) return;
    const dying = child;
    child = undefined;
    dying.kill('SIGKILL');
    await ended(dying);
  };
  await start();
  return {
    url,
    start,
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    flush: async () => void (await withClient(url, (redis) => redis.flushall())),
    command: (name, ...rest) => withClient(url, (redis) => redis.call(name, ...rest)),
    close: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** For tests that only count: the server that REDIS_URL names, which is never stopped or emptied, else one of its own. */
export async function anyTestRedis(): Promise<{ url: string; close(): Promise<void> }> {
  const url = process.env['REDIS_URL'];
  return url ? { url, close: () => Promise.resolve() } : startTestRedis();
}
