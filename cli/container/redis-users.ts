import { createHash } from 'node:crypto';

/** Who connects to the Redis of the containers. */
export const REDIS_USERS = ['tollgate_plugin', 'tollgate_service', 'tollgate_worker', 'tollgate_operator'] as const;
export type RedisUser = (typeof REDIS_USERS)[number];

/** What every connection of ioredis says; its name of itself (CLIENT SETINFO), which Redis 7.0 does not know, it can do without. */
const CONNECT = '+hello +auth +ping +info +select +quit +client|setname +client|id';
const SCRIPTS = '+eval +evalsha';

/** Rights by user, as ACL SETUSER has them. */
const RIGHTS: Readonly<Record<RedisUser, string>> = {
  // Counts: quota-counter.lua and the probe beside it.
  tollgate_plugin: `~tollgate:quota:* ${CONNECT} ${SCRIPTS} +time +exists +expire +hget +hmget +hset +hincrby +hkeys +hdel +set`,
  /*
   * Refunds merge what PostgreSQL knows into a count, which takes no unit: without HINCRBY none can be taken, without HDEL and DEL none
   * be forgotten. Where sessions are is read and never written.
   */
  tollgate_service:
    `~tollgate:quota:* %R~tollgate:session:* ${CONNECT} ${SCRIPTS} +time +exists +expire +hget +hmget +hset +get ` +
    `(~tollgate:quota:probe:* +set)`,
  // Sessions, how many one-time passwords were sent, and the links that pages were seen to hold.
  tollgate_worker:
    `~tollgate:session:* ~tollgate:otp:* ~tollgate:seo-links:* ${CONNECT} ${SCRIPTS} +time +get +set +del +pexpire +zadd +zrange +zrem ` +
    `+zremrangebyscore +zremrangebyrank`,
  tollgate_operator: '~* &* +@all',
};

/**
 * The lines of Redis's aclfile. Passwords are in it as digests. Who gives no name may only ask whether Redis is there, as its health
 * check does.
 */
export function writeAclFile(passwords: Readonly<Record<RedisUser, string>>): string {
  const digest = (user: RedisUser): string => createHash('sha256').update(passwords[user]).digest('hex');
  const lines = REDIS_USERS.map((user) => `user ${user} on #${digest(user)} resetkeys resetchannels -@all ${RIGHTS[user]}`);
  return `${['user default on nopass resetkeys resetchannels -@all +ping', ...lines].join('\n')}\n`;
}
