import { type KeyMode } from '../../../../plugins/core/ports';
import { type RedisClient } from '../../../kit/redis-client';
import { type LinkIndex, type SeenLink } from './link-index';

const PREFIX = 'tollgate:seo-links:';
/** A link not seen for half a year means little. A domain that nobody looked up for that long is dropped. */
const KEPT_MS = 180 * 86_400_000;

export interface RedisLinkIndexOptions {
  readonly redis: RedisClient;
  /** Data invented in the sandbox is kept apart from real data. */
  readonly mode: KeyMode;
  /** Limits on links of a domain, and on domains, because quota counters share the same memory. */
  readonly most: number;
  readonly mostDomains: number;
  readonly now: () => number;
}

/** URLs hold no spaces. */
function memberOf({ source, target }: SeenLink): string {
  return `${source} ${target}`;
}

/**
 * One sorted set for each domain, shared by all workers: member = page and link, score = time of the last sighting in milliseconds since
 * 1970.
 */
export function createRedisLinkIndex({ redis, mode, most, mostDomains, now }: RedisLinkIndexOptions): LinkIndex {
  const keyOf = (domain: string): string => `${PREFIX}${mode}:${domain}`;
  /** Domains sorted by their last look-up. The key cannot be a domain, because it has no dot. */
  const domains = `${PREFIX}${mode}:domains`;

  /** Drops the domains whose last look-up is the oldest. Running twice at the same time does no harm. */
  async function note(domain: string): Promise<void> {
    await redis.zadd(domains, now(), domain);
    const surplus = await redis.zrange(domains, '0', String(-mostDomains - 1));
    for (const each of surplus) await redis.del(keyOf(each));
    if (surplus.length > 0) await redis.zrem(domains, ...surplus);
  }

  return {
    find: async (domain) => {
      const found = await redis.zrange(keyOf(domain), '0', String(most - 1), 'REV', 'WITHSCORES');
      const links: SeenLink[] = [];
      for (let index = 0; index < found.length; index += 2) {
        const [source = '', target = ''] = found[index]?.split(' ') ?? [];
        const seenAtMs = Number(found[index + 1]);
        if (seenAtMs > now() - KEPT_MS) links.push({ source, target, seenAtMs });
      }
      return links;
    },
    add: async (domain, links) => {
      const key = keyOf(domain);
      // A single connection keeps these commands in order.
      await Promise.all([
        redis.zadd(key, ...links.flatMap((link) => [link.seenAtMs, memberOf(link)])),
        redis.zremrangebyscore(key, '-inf', now() - KEPT_MS),
        redis.zremrangebyrank(key, 0, -most - 1),
        redis.pexpire(key, KEPT_MS),
      ]);
      await note(domain);
    },
    remove: async (domain, links) => {
      await redis.zrem(keyOf(domain), ...links.map(memberOf));
    },
  };
}
