import { describeQuotaCounter } from '../../contracts/quota-counter';
import { openedForTests } from '../../support/opened';
import { useDatabase } from '../../support/postgres/use-database';
import { anyTestRedis } from '../../support/redis/redis';
import { runsEveryScene } from '../../support/scenes';
import { harnessOf, postgresNode, redisNode, storeNode } from './harness';

const opened = openedForTests();
const database = useDatabase();
const redis = opened.use(anyTestRedis);

// Nodes count in both stores, or in Postgres alone. Redis by itself has the same scripts as both.
if (runsEveryScene)
  describeQuotaCounter('Redis', (timeZone) =>
    harnessOf((clocks) => redisNode({ pool: database.pool, redisUrl: redis.url, timeZone, ...clocks })),
  );

describeQuotaCounter('Postgres', (timeZone) =>
  harnessOf((clocks) => Promise.resolve({ counter: postgresNode({ pool: database.pool, timeZone, ...clocks }), close: () => undefined })),
);

describeQuotaCounter('Redis with Postgres behind it', (timeZone) =>
  harnessOf((clocks) => storeNode({ pool: database.pool, redisUrl: redis.url, timeZone, ...clocks })),
);
