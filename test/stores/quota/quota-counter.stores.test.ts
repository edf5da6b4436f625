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
  harnessOf((clocks) => redisNode({ pool: database.pool, redisUrl: redis.url, timeZone, ...clocks })),
);

describeQuotaCounter('Postgres', (timeZone) =>
  harnessOf((clocks) => Promise.resolve({ counter: postgresNode({ pool: database.pool, timeZone, ...clocks }), close: () => undefined })),
);

describeQuotaCounter('Redis with Postgres behind it', (timeZone) =>
  harnessOf((clocks) => storeNode({ pool: database.pool, redisUrl: redis.url, timeZone, ...clocks })),
);
