import { randomUUID } from 'node:crypto';
import { ServiceError } from '../../kit/errors';
import { type RedisClient } from '../../kit/redis-client';
import { judgeOtps, type OtpAllowance, type OtpThrottle } from './otp-throttle';

const PREFIX = 'tollgate:otp:';

/**
 * One sorted set for each number: member = ticket, score = time by Redis's clock, which all workers share. ARGV: window in ms, maximum,
 * ticket ('' only reads). Returns {now, times…}, and adds the ticket when fewer than the maximum are within the window.
 */
const TAKE = `
local clock = redis.call('TIME')
local now = clock[1] * 1000 + math.floor(clock[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[1])
local sent = redis.call('ZRANGE', KEYS[1], 0, -1, 'WITHSCORES')
local answer = { now }
for index = 2, #sent, 2 do answer[#answer + 1] = tonumber(sent[index]) end
if ARGV[3] ~= '' and #answer - 1 < tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[1], now, ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
end
return answer`;

function unavailable(cause: unknown): ServiceError {
  return new ServiceError('service_not_ready', { detail: 'The number of sent OTPs could not be checked. Try again shortly.', cause });
}

/** Counts in Redis, so that all workers share the count. */
export function createRedisOtpThrottle(redis: RedisClient, allowance: OtpAllowance): OtpThrottle {
  const run = async (numberKey: string, ticket: string): Promise<ReturnType<typeof judgeOtps>> => {
    const reply: unknown = await redis
      .eval(TAKE, 1, PREFIX + numberKey, allowance.windowMs, allowance.most, ticket)
      .catch((error: unknown) => {
        throw unavailable(error);
      });
    const [now, ...times] = Array.isArray(reply) ? reply.map(Number) : [];
    if (now === undefined) throw unavailable(new Error('Redis sent an unexpected reply'));
    return judgeOtps(times, now, allowance);
  };
  return {
    check: (numberKey) => run(numberKey, ''),
    take: async (numberKey) => {
      const ticket = randomUUID();
      const verdict = await run(numberKey, ticket);
      if (!verdict.allowed) return verdict;
      return {
        allowed: true,
        // If a ticket cannot be given back, the throttle is only stricter.
        giveBack: () =>
          redis.zrem(PREFIX + numberKey, ticket).then(
            () => undefined,
            () => undefined,
          ),
      };
    },
  };
}
