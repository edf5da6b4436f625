import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { type Clock } from '../../../plugins/core/ports';
import { type Log } from '../log';
import { connectRedis } from '../redis-client';

/** Knows which worker owns a session, for every replica of a service. */
export interface SessionRegistry {
  /** Remembers the owner for `lifetimeMs`. Never fails: at worst only this replica knows. */
  remember(sessionId: string, address: string, lifetimeMs: number): Promise<void>;
  /**
   * The owner's address, or undefined when the session is not known.
   * @throws Error when it is not known here and the shared memory cannot be read
   */
  find(sessionId: string): Promise<string | undefined>;
  close(): void;
}

/** Maximum sessions that one replica remembers. A forgotten session costs only a look-up in Redis. */
const MAX_REMEMBERED = 100_000;

/** A registry for a single replica, or a single worker. */
export function createMemorySessionRegistry(clock: Pick<Clock, 'monotonic'>): SessionRegistry {
  const owners = new LRUCache<string, string>({ max: MAX_REMEMBERED, ttl: 1, ttlResolution: 0, perf: { now: () => clock.monotonic() } });
  return {
    remember: (sessionId, address, lifetimeMs) => {
      owners.set(sessionId, address, { ttl: lifetimeMs });
      return Promise.resolve();
    },
    find: (sessionId) => Promise.resolve(owners.get(sessionId)),
    close: () => owners.clear(),
  };
}

const PREFIX = 'tollgate:session:';
const REDIS_DEADLINE_MS = 1_000;

/** Ids open sessions, so only their digest leaves the process. */
function keyOf(sessionId: string): string {
  return PREFIX + createHash('sha256').update(sessionId).digest('base64url');
}

/** A registry that all replicas share, with a memory of this replica's own sessions in front. */
export function createRedisSessionRegistry(url: string, tools: { clock: Pick<Clock, 'monotonic'>; log: Log }): SessionRegistry {
  const { clock, log } = tools;
  const own = createMemorySessionRegistry(clock);
  const redis = connectRedis(url, {
    deadlineMs: REDIS_DEADLINE_MS,
    waitForConnection: true,
    onError: (error) => log.debug({ err: error }, 'the session registry cannot use Redis'),
  });
  return {
    remember: async (sessionId, address, lifetimeMs) => {
      await own.remember(sessionId, address, lifetimeMs);
      try {
        await redis.set(keyOf(sessionId), address, 'PX', lifetimeMs);
      } catch (error) {
        log.warn({ err: error }, 'a session is known to this replica only');
      }
    },
    find: async (sessionId) => (await own.find(sessionId)) ?? (await redis.get(keyOf(sessionId))) ?? undefined,
    close: () => {
      own.close();
      redis.disconnect();
    },
  };
}
