import { spawn, type ChildProcess } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Redis } from 'ioredis';
import { findFreePorts } from '../../../cli/postgres/free-port';
import { ensurePackages } from '../debian-packages';
import { eventually } from '../eventually';

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

async function withClient<T>(url: string, work: (redis: Redis) => Promise<T>): Promise<T> {
  const redis = new Redis(url, { lazyConnect: true, retryStrategy: () => null, enableReadyCheck: false });
  redis.on('error', () => undefined);
  await redis.connect();
  try {
    return await work(redis);
  } finally {
    redis.disconnect();
  }
}

/** @throws Error when the server ended instead, for example because somebody else has taken its port */
async function waitUntilReady(url: string, child: ChildProcess): Promise<void> {
  child.on('error', () => undefined);
  const isUp = (): Promise<boolean> =>
    withClient(url, (redis) => redis.ping()).then(
      () => true,
      () => false,
    );
  await eventually(async () => hasEnded(child) || (await isUp()));
  if (hasEnded(child)) throw new Error('redis-server did not start');
}

/** The slots of other masters are served while one is away. A node that gets no turn for some seconds is not taken for one. */
export const NODE_TIMEOUT_MS = '15000';
const CLUSTER_ARGUMENTS = ['--cluster-require-full-coverage', 'no', '--cluster-node-timeout', NODE_TIMEOUT_MS];

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null;

function ended(child: ChildProcess): Promise<void> {
  if (hasEnded(child)) return Promise.resolve();
  return new Promise((resolve) => child.once('exit', () => resolve()));
}

/**
 * A server of its own on a free port, since tests stop, kill and empty it.
 * @param options.persistent keeps an append-only file; otherwise a restart is an empty server
 * @param options.isNode of a cluster, which it joins
 * @param options.aclFile says who may do what; a client without a name may only ask whether the server is there
 */
export async function startTestRedis(options: { persistent?: boolean; isNode?: boolean; aclFile?: string } = {}): Promise<TestRedis> {
  await ensurePackages(['redis-server'], 'These tests');
  const [port = 0, busPort = 0] = await findFreePorts(2);
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-redis-'));
  const url = `redis://127.0.0.1:${port}`;
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--dir', folder, '--save', '', '--loglevel', 'warning'];
  if (options.isNode) args.push('--cluster-enabled', 'yes', '--cluster-port', String(busPort), ...CLUSTER_ARGUMENTS);
  if (options.aclFile) args.push('--aclfile', options.aclFile);
  if (options.persistent) args.push('--appendonly', 'yes', '--appendfsync', 'always');
  let child: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    child = spawn('redis-server', args, { stdio: 'ignore' });
    await waitUntilReady(url, child);
  };
  const kill = async (): Promise<void> => {
    if (!child) return;
    const dying = child;
    child = undefined;
    dying.kill('SIGKILL');
    await ended(dying);
  };
  const close = async (): Promise<void> => {
    await kill();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await close();
    throw error;
  }
  return {
    url,
    start,
    kill,
    freeze: () => void child?.kill('SIGSTOP'),
    thaw: () => void child?.kill('SIGCONT'),
    flush: async () => void (await withClient(url, (redis) => redis.flushall())),
    command: (name, ...rest) => withClient(url, (redis) => redis.call(name, ...rest)),
    close,
  };
}

/** For tests that only count: the server that REDIS_URL names, which is never stopped or emptied, else one of its own. */
export async function anyTestRedis(): Promise<{ url: string; close(): Promise<void> }> {
  const url = process.env['REDIS_URL'];
  return url ? { url, close: () => Promise.resolve() } : startTestRedis();
}
