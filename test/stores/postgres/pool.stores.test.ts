import { inTransaction } from '../../../plugins/stores/postgres/database';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { eventually } from '../../support/eventually';
import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

/** Ends a connection from outside and waits until its own end has noticed. */
async function terminate(pid: number): Promise<void> {
  await database.pool.query('SELECT pg_terminate_backend($1, 5000)', [pid]);
}

describe('the pool', () => {
  it('replaces a connection that broke while idle, and says so', async () => {
    const errors: Error[] = [];
    const pool = createPool(database.url, { max: 1, onError: (error) => errors.push(error) });
    const { rows } = await pool.query('SELECT pg_backend_pid() AS pid');
    await terminate(rows[0].pid);
    await eventually(() => errors.length > 0);
    expect((await pool.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
    await pool.end();
  });

  it('survives a connection that breaks between two queries of a transaction', async () => {
    const pool = createPool(database.url, { max: 1 });
    const broken = inTransaction(pool, async (client) => {
      const noticed = new Promise((done) => client.once('end', done));
      const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
      await terminate(rows[0].pid);
      await noticed;
      await client.query('SELECT 1');
    });
    await expect(broken).rejects.toThrow(/not queryable|terminat/i);
    expect((await pool.query('SELECT 1 AS n')).rows).toEqual([{ n: 1 }]);
    await pool.end();
  });

  it('does not wait for a query longer than its time-out', async () => {
    const pool = createPool(database.url, { max: 1, statementTimeoutMs: 500 });
    await expect(pool.query('SELECT pg_sleep(600)')).rejects.toThrow(/timeout/);
    // The next query has no longer than that either, which a busy machine may not keep at the first try.
    await eventually(async () => (await pool.query('SELECT 1 AS n').catch(() => undefined))?.rows[0]?.n === 1);
    await pool.end();
  });
});
