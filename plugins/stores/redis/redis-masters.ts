import { type Cluster, type Redis, type RedisOptions, type Result } from 'ioredis';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** quota-counter.lua, by its digest once a server knows it. */
    countQuota(key: string, ...args: (string | number)[]): Result<unknown, Context>;
  }
}

/** The servers that count: the masters of a cluster, each for the hash tags of its slots, or a single server as a cluster of one. */
export interface RedisMasters {
  /** Takes the commands for all of them; in a cluster each goes to the master of its key. */
  readonly commands: Redis | Cluster;
  /** The master of a hash tag, as in `name:{tag}`; undefined before the cluster was reached. */
  ownerOf(tag: string): string | undefined;
  /** The masters that hold slots. */
  names(): ReadonlySet<string>;
  clientOf(name: string): Redis | undefined;
  close(): void;
}

export interface MasterEvents {
  /** The connection to this master cannot be used; the reason names no address and no value. May be told more than once. */
  readonly onTrouble: (name: string, reason: string) => void;
  /** This master takes commands, again or for the first time. */
  readonly onReady: (name: string) => void;
  /** Hash tags have gone to other masters than before. */
  readonly onMoved: () => void;
}

const CONNECT_TIMEOUT_MS = 1_000;
const DISCONNECT_TIMEOUT_MS = 100;
const SLOWEST_RECONNECT_MS = 250;

/** Nothing is ever sent twice: after a failure it is unknown whether a script ran. */
export const CLIENT_OPTIONS = {
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: CONNECT_TIMEOUT_MS,
  // ioredis keeps the process alive for this long after the end of a connection that was already broken.
  disconnectTimeout: DISCONNECT_TIMEOUT_MS,
  connectionName: 'tollgate-quota',
} as const satisfies RedisOptions;

/** Milliseconds before the next attempt to connect. */
export function retryStrategy(times: number): number {
  return Math.min(50 * times, SLOWEST_RECONNECT_MS);
}

/** The error's code or first word: `ECONNREFUSED`, `READONLY`. The rest may hold an address or a value. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown';
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return cause.message.split(' ', 1)[0] ?? 'unknown';
}
