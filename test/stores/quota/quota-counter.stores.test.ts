import { describeQuotaCounter } from '../../contracts/quota-counter';
import { type TestDatabase, testDatabase } from '../../support/postgres/postgres';
import { anyTestRedis } from '../../support/redis/redis';
import { harnessOf, postgresNode, redisNode, storeNode } from './harness';

let database: TestDatabase;
let redis: Awaited<ReturnType<typeof anyTestRedis>>;
beforeAll(async () => {
  [database, redis] = await Promise.all([testDatabase(), anyTestRedis()]);
});
afterAll(async () => {
  await redis.close();
  await database.close();
});

describeQuotaCounter('Redis', (timeZone) =>
  harnessOf((storeClock) => redisNode({ pool: database.pool, redisUrl: redis.url, timeZone, storeClock })),
);

describeQuotaCounter('Postgres', (timeZone) =>
  harnessOf((storeClock) =>
    Promise.resolve({ counter: postgresNode({ pool: database.pool, timeZone, storeClock }), close: () => undefined }),
  ),
);

describeQuotaCounter('Redis with Postgres behind it', (timeZone) =>
  harnessOf((storeClock) => storeNode({ pool: database.pool, redisUrl: redis.url, timeZone, storeClock })),
);
