import { getMigrations } from 'better-auth/db/migration';
import { createAuth } from '../../../services/dashboard/sign-in/create-auth';
import { createLog } from '../../../services/kit/log';
import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

describe('the tables of accounts', () => {
  it('are what better-auth expects: its own check finds nothing to create, to add or of another type', async () => {
    const log = createLog('dashboard', { level: 'silent' });
    const mail = { send: () => Promise.resolve(), close: () => undefined };
    const auth = await createAuth({ db: database.pool, secret: 's'.repeat(40), url: 'https://dashboard.example.com', mail, log });
    // It knows the type by its long name only, which PostgreSQL does not report.
    const mistaken = ['last_request in table auth_rate_limit', 'counter in table auth_passkey'].map(
      (field) => `Field ${field} has a different type in the database. Expected number but got float8.`,
    );
    const warnings: string[] = [];
    const logger = {
      level: 'warn' as const,
      log: (_level: string, message: string) => !mistaken.includes(message) && void warnings.push(message),
    };
    const plan = await getMigrations({ ...auth.options, logger });
    const { toBeCreated, toBeAdded } = plan;
    expect({ toBeCreated, toBeAdded, warnings, sql: await plan.compileMigrations() }).toEqual({
      toBeCreated: [],
      toBeAdded: [],
      warnings: [],
      sql: ';',
    });
  });
});
