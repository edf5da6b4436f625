import { testDatabase, type TestDatabase } from '../support/postgres/postgres';

/** A database for all tests of a file. What it has is there once they run. */
export function useDatabase(): Pick<TestDatabase, 'pool' | 'url' | 'urlAs'> {
  let database: TestDatabase;
  beforeAll(async () => void (database = await testDatabase()));
  afterAll(() => database.close());
  return {
    get pool() {
      return database.pool;
    },
    get url() {
      return database.url;
    },
    urlAs: (role) => database.urlAs(role),
  };
}
