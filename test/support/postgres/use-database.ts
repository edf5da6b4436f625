import { useOpened } from '../opened';
import { testDatabase, type TestDatabase } from './postgres';

/**
 * A database for all tests of the file or block around it. `empty: true` leaves out the schema. What uses the database to the end is kept
 * by an `openedForTests` that comes before.
 */
export function useDatabase(options?: Parameters<typeof testDatabase>[0]): Pick<TestDatabase, 'pool' | 'url' | 'urlAs'> {
  return useOpened(() => testDatabase(options));
}
