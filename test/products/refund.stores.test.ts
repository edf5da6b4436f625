import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { systemClock } from '../../plugins/core/ports';
import { createRefund, type RefundStore } from '../../services/products/refund';
import { type Log } from '../../services/kit/log';
import { storeNode } from '../stores/quota/harness';
import { testDatabase } from '../support/postgres/postgres';
import { startTestRedis } from '../support/redis/redis';

const log: Log = pino({ level: 'silent' });

it('gives back a unit that Redis granted a moment ago, also from a service that cannot reach Redis', async () => {
  const [database, redis] = [await testDatabase(), await startTestRedis()];
  const gateway = await storeNode({ pool: database.pool, redisUrl: redis.url });
  const settings = { DATABASE_URL: database.url, REDIS_URL: 'redis://127.0.0.1:1', QUOTA_TIMEZONE: 'Asia/Kolkata' };
  let service: RefundStore | undefined;
  try {
    service = await createRefund(settings, { log, clock: systemClock });
    const subscriptionId = randomUUID();
    const { standing } = await gateway.counter.spend({ subscriptionId, limits: { daily: 10, monthly: 10 } });
    const unit = { subscriptionId, day: standing.day, requestId: randomUUID(), dailyLimit: 10 };
    expect(await service?.refund(unit)).toBe('refunded');
    expect(await service?.refund(unit)).toBe('repeated');
  } finally {
    await service?.close();
    await gateway.close();
    await redis.close();
    await database.close();
  }
});
