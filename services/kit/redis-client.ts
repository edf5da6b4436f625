import { Cluster, Redis } from 'ioredis';
import { parseRedisUrl } from '../../plugins/core/redis-address';

/** A Redis server or a cluster of them. Commands and scripts must keep to one key each, which a cluster can run. */
export type RedisClient = Redis | Cluster;

export interface RedisClientOptions {
  /** Milliseconds for a connection, and for each command. */
  readonly deadlineMs: number;
  /** If true, a command without a connection waits for one; otherwise it fails at once. */
  readonly waitForConnection: boolean;
  /** Called, often, while the connection cannot be used. */
  readonly onError: (error: Error) => void;
}

/** ioredis keeps the process alive for this long after the end of a connection that was already broken. */
const DISCONNECT_TIMEOUT_MS = 100;
const SLOWEST_RECONNECT_MS = 250;
const MAX_REDIRECTIONS = 4;
const retryStrategy = (times: number): number => Math.min(50 * times, SLOWEST_RECONNECT_MS);

/** @param url REDIS_URL. @throws Error when it cannot be read */
export function connectRedis(url: string, { deadlineMs, waitForConnection, onError }: RedisClientOptions): RedisClient {
  const address = parseRedisUrl(url);
  const timeouts = { connectTimeout: deadlineMs, commandTimeout: deadlineMs, disconnectTimeout: DISCONNECT_TIMEOUT_MS };
  if (address.kind === 'server') {
    const redis = new Redis(address.url, {
      ...timeouts,
      maxRetriesPerRequest: waitForConnection ? 1 : 0,
      enableOfflineQueue: waitForConnection,
    });
    return redis.on('error', onError);
  }
  const cluster = new Cluster([...address.nodes], {
    // With this queue, nothing would bound the time that a command waits for a cluster.
    enableOfflineQueue: false,
    enableReadyCheck: false,
    maxRedirections: MAX_REDIRECTIONS,
    slotsRefreshTimeout: deadlineMs,
    clusterRetryStrategy: retryStrategy,
    clusterNodeRetryStrategy: retryStrategy,
    redisOptions: { ...address.login, ...timeouts, maxRetriesPerRequest: 0 },
  });
  // Connects at once, because the cluster's client refuses commands to a node that is still connecting.
  cluster.on('+node', (node: Redis) => {
    node.on('error', onError);
    if (node.status === 'wait') node.connect().catch(() => undefined);
  });
  return cluster.on('error', onError);
}
