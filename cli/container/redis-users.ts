import { createHash } from 'node:crypto';

/** Users that connect to the Redis of the containers. */
export const REDIS_USERS = ['tollgate_plugin', 'tollgate_service', 'tollgate_worker', 'tollgate_operator'] as const;
export type RedisUser = (typeof REDIS_USERS)[number];

/**
 * Commands that every connection of ioredis sends. It does not depend on naming itself (CLIENT SETINFO), which Redis 7.0 does not support.
 */
const CONNECT = '+hello +auth +ping +info +select +quit +client|setname +client|id';
const SCRIPTS = '+eval +evalsha';

/** Rights by user, in the form of ACL SETUSER. */
const RIGHTS: Readonly<Record<RedisUser, string>> = {
  // Counts with quota-counter.lua, and probes the server.
  tollgate_plugin: `~tollgate:quota:* ${CONNECT} ${SCRIPTS} +time +exists +expire +hget +hmget +hset +hincrby +hkeys +hdel +set`,
  /*
   * Refunds merge PostgreSQL's figures into a count, which takes no unit: without HINCRBY no unit can be taken, and without HDEL and DEL no
   * count can be removed. The places of sessions are only read.
   */
  tollgate_service:
    `~tollgate:quota:* %R~tollgate:session:* ${CONNECT} ${SCRIPTS} +time +exists +expire +hget +hmget +hset +get ` +
    `(~tollgate:quota:probe:* +set)`,
  // Sessions, numbers of sent one-time passwords, and links that were seen on pages.
  tollgate_worker:
    `~tollgate:session:* ~tollgate:otp:* ~tollgate:seo-links:* ${CONNECT} ${SCRIPTS} +time +get +set +del +pexpire +zadd +zrange +zrem ` +
    `+zremrangebyscore +zremrangebyrank`,
  tollgate_operator: '~* &* +@all',
};

/**
 * The lines of Redis's aclfile, with digests of the passwords. A connection without a user name may only ask whether Redis is up, as its
 * health check does.
 */
export function writeAclFile(passwords: Readonly<Record<RedisUser, string>>): string {
  const digest = (user: RedisUser): string => createHash('sha256').update(passwords[user]).digest('hex');
  const lines = REDIS_USERS.map((user) => `user ${user} on #${digest(user)} resetkeys resetchannels -@all ${RIGHTS[user]}`);
  return `${['user default on nopass resetkeys resetchannels -@all +ping', ...lines].join('\n')}\n`;
}
