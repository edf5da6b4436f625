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

  it('leaves no lock behind for longer than its time-out when a transaction stops halfway', async () => {
    await database.pool.query('CREATE TABLE stopped_halfway AS SELECT 1 AS n');
    const pool = createPool(database.url, { max: 1, statementTimeoutMs: 500 });
    const client = await pool.connect();
    await client.query('BEGIN');
    await client.query('UPDATE stopped_halfway SET n = 2');
    // Waits for the row, and takes it once the server has ended the other one.
    await database.pool.query('UPDATE stopped_halfway SET n = n + 10');
    expect((await database.pool.query('SELECT n FROM stopped_halfway')).rows).toEqual([{ n: 11 }]);
    client.release(true);
    await pool.end();
    await database.pool.query('DROP TABLE stopped_halfway');
  });
});
