import { randomBytes } from 'node:crypto';
import { createCustomer } from '../../../services/selling/customers/create-customer';
import { createKey, type CreatedKey } from '../../../services/selling/keys/create-key';
import { PRODUCTS } from '../catalogue';
import { startFleet, type Fleet } from './fleet';
import { testDatabase, type TestDatabase } from '../postgres/postgres';
import { type OpenedParts, openTogether } from '../opened';
import { startTestRedis, type TestRedis } from '../redis/redis';

export interface TestFleet extends Fleet {
  readonly database: TestDatabase;
  readonly redis: TestRedis;
  /** A test key of a customer of its own, for every published product unless told otherwise. */
  newKey(options?: { products?: string[]; daily?: number }): Promise<CreatedKey>;
}

const PLENTY = 1_000_000;
let customers = 0;

/** A fleet on a database and a Redis of its own. */
export function startTestFleet(): Promise<TestFleet> {
  return openTogether(startParts);
}

async function startParts(parts: OpenedParts): Promise<TestFleet> {
  const [database, redis] = await Promise.all([
    parts.keep(testDatabase(), (each) => each.close()),
    parts.keep(startTestRedis(), (each) => each.close()),
  ]);
  const signingKeys = `test:${randomBytes(32).toString('base64')}`;
  const starting = startFleet({ databaseUrl: database.url, redisUrl: redis.url, signingKeys });
  const fleet = await parts.keep(starting, (each) => each.close());
  const published = PRODUCTS.filter(({ routes }) => routes.length > 0).map(({ id }) => id);
  return {
    ...fleet,
    database,
    redis,
    async newKey({ products = published, daily = PLENTY } = {}) {
      const email = `fleet-${customers++}@example.com`;
      await createCustomer(database.pool, { email, actor: 'test' });
      return createKey(database.pool, { customer: email, products, mode: 'test', daily, monthly: PLENTY, actor: 'test' });
    },
    close: () => parts.close(),
  };
}
