import { openedForTests } from '../opened';
import { testDatabase, type TestDatabase } from './postgres';

/**
 * A database for all tests of the file or block around it. What it has is there once they run. `empty: true` leaves out the schema.
 * Hooks run in the order of their definition: what uses the database to the end is kept by an `openedForTests` that comes before.
 */
export function useDatabase(options?: Parameters<typeof testDatabase>[0]): Pick<TestDatabase, 'pool' | 'url' | 'urlAs'> {
  let database: TestDatabase;
  const opened = openedForTests();
  beforeAll(async () => void (database = await opened.keep(testDatabase(options), (each) => each.close())));
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
