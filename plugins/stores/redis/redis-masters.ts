import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import calculateSlot from 'cluster-key-slot';
import { Cluster, Redis, type RedisOptions, type Result } from 'ioredis';
import { type RedisAddress, type RedisLogin, type RedisNode } from '../../core/redis-address';

declare module 'ioredis' {
  interface RedisCommander<Context> {
    /** Runs quota-counter.lua, by its digest once a server knows it. */
    countQuota(key: string, ...args: (string | number)[]): Result<unknown, Context>;
  }
}

/** The servers that count: the masters of a cluster, each with the hash tags of its slots; a single server is a cluster of one. */
export interface RedisMasters {
  /** Sends commands to any of them; in a cluster each goes to the master of its key. */
  readonly commands: Redis | Cluster;
  /** The master of a hash tag, as in `name:{tag}`; undefined before the cluster was reached. */
  ownerOf(tag: string): string | undefined;
  /** The masters that hold slots. */
  names(): ReadonlySet<string>;
  clientOf(name: string): Redis | undefined;
  close(): void;
}

export interface MasterEvents {
  /** The connection to this master cannot be used. The reason names no address and no value. May be called more than once. */
  readonly onTrouble: (name: string, reason: string) => void;
  /** This master takes commands, again or for the first time. */
  readonly onReady: (name: string) => void;
  /** Some hash tags have moved to other masters. */
  readonly onMoved: () => void;
}

const CONNECT_TIMEOUT_MS = 1_000;
const DISCONNECT_TIMEOUT_MS = 100;
const SLOWEST_RECONNECT_MS = 250;

/** Nothing is ever sent twice: after a failure it is unknown whether a script ran. */
const CLIENT_OPTIONS = {
  maxRetriesPerRequest: 0,
  autoResendUnfulfilledCommands: false,
  connectTimeout: CONNECT_TIMEOUT_MS,
  // ioredis keeps the process alive for this long after the end of a connection that was already broken.
  disconnectTimeout: DISCONNECT_TIMEOUT_MS,
  connectionName: 'tollgate-quota',
} as const satisfies RedisOptions;

/** Milliseconds before the next attempt to connect. */
function retryStrategy(times: number): number {
  return Math.min(50 * times, SLOWEST_RECONNECT_MS);
}

/** The error's code or first word, such as `ECONNREFUSED` or `READONLY`. The rest may hold an address or a value. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown';
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return cause.message.split(' ', 1)[0] ?? 'unknown';
}

/** The name of a single server. */
const ONLY = 'redis';

/** Connects at once and reconnects until it is closed. */
export function openRedisMasters(address: RedisAddress, events: MasterEvents): RedisMasters {
  const masters = address.kind === 'cluster' ? new ClusterMasters({ ...address, ...events }) : openServer(address.url, events);
  const lua = readFileSync(join(__dirname, 'quota-counter.lua'), 'utf8');
  masters.commands.defineCommand('countQuota', { numberOfKeys: 1, lua });
  return masters;
}

function openServer(url: string, { onTrouble, onReady }: MasterEvents): RedisMasters {
  const redis = new Redis(url, {
    ...CLIENT_OPTIONS,
    enableOfflineQueue: false,
    retryStrategy,
    // This server was a primary and is now a replica; by now its name may lead to the new primary.
    reconnectOnError: (error) => error.message.includes('READONLY'),
  });
  redis.on('error', (error: Error) => onTrouble(ONLY, reasonOf(error)));
  redis.on('close', () => onTrouble(ONLY, 'connection closed'));
  redis.on('ready', () => onReady(ONLY));
  const names = new Set([ONLY]);
  return {
    commands: redis,
    ownerOf: () => ONLY,
    names: () => names,
    clientOf: (name) => (name === ONLY ? redis : undefined),
    close: () => redis.disconnect(),
  };
}

interface ClusterMastersOptions extends MasterEvents {
  /** Some of the nodes; the client learns the others from them. */
  readonly nodes: readonly RedisNode[];
  readonly login: RedisLogin;
}

/** Milliseconds within which a promoted replica is found if no command is sent whose reply would name it. */
const REFRESH_MS = 1_000;
const REFRESH_TIMEOUT_MS = 1_000;
/** Maximum redirections of a command before it fails. */
const MAX_REDIRECTIONS = 4;

/**
 * The connections to all nodes of a cluster, named `host:port`. A command goes to the master of its slot. It is sent again only when a node
 * replied that it did not run it because the slot is elsewhere. Nothing is queued while a node is away.
 */
class ClusterMasters implements RedisMasters {
  readonly commands: Cluster;
  private owners = '';

  constructor(private readonly options: ClusterMastersOptions) {
    this.commands = new Cluster([...options.nodes], {
      enableOfflineQueue: false,
      // The check fails while any slot has no master, but subscriptions in the other slots can be counted.
      enableReadyCheck: false,
      maxRedirections: MAX_REDIRECTIONS,
      // Either would send a command again that may have run.
      retryDelayOnFailover: 0,
      retryDelayOnClusterDown: 0,
      slotsRefreshInterval: REFRESH_MS,
      slotsRefreshTimeout: REFRESH_TIMEOUT_MS,
      clusterRetryStrategy: retryStrategy,
      clusterNodeRetryStrategy: retryStrategy,
      redisOptions: { ...options.login, ...CLIENT_OPTIONS },
    });
    // Each node's own connection reports its errors.
    this.commands.on('error', () => undefined);
    this.commands.on('+node', (node: Redis) => this.adopt(node));
    this.commands.on('refresh', () => this.compareOwners());
  }

  ownerOf(tag: string): string | undefined {
    return this.commands.slots[calculateSlot(tag)]?.[0];
  }

  names(): Set<string> {
    return new Set(this.commands.slots.flatMap(([master]) => (master === undefined ? [] : [master])));
  }

  clientOf(name: string): Redis | undefined {
    return this.commands.nodes().find((each) => keyOf(each) === name);
  }

  close(): void {
    this.commands.disconnect();
  }

  /** Connects at once: otherwise the first spend would wait for the connection, and a break could go unnoticed and cost exactness. */
  private adopt(node: Redis): void {
    const key = keyOf(node);
    node.on('error', (error: Error) => this.options.onTrouble(key, reasonOf(error)));
    node.on('close', () => this.options.onTrouble(key, 'connection closed'));
    node.on('ready', () => this.options.onReady(key));
    if (node.status === 'wait') node.connect().catch(() => undefined);
  }

  private compareOwners(): void {
    let owners = '';
    let last: string | undefined;
    this.commands.slots.forEach(([master], slot) => {
      if (master !== last) owners += `${slot} ${master ?? ''}\n`;
      last = master;
    });
    if (owners === this.owners) return;
    this.owners = owners;
    this.options.onMoved();
  }
}

function keyOf({ options }: Redis): string {
  return `${options.host ?? ''}:${options.port ?? ''}`;
}
