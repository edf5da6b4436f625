import { readTableSizes } from '../../../plugins/stores/postgres/table-sizes';
import { newKey } from '../../contracts/access-records';
import { testDatabase, type TestDatabase } from '../../support/postgres/postgres';

let database: TestDatabase;
beforeAll(async () => {
  database = await testDatabase();
});
afterAll(() => database.close());

describe('the sizes of tables', () => {
  it('are bytes, rows as PostgreSQL estimates them, and since when there are rows', async () => {
    await newKey(database.pool);
    await database.pool.query('ANALYZE audit_log');
    const { bytes, tables } = await readTableSizes(database.pool);
    const of = (name: string): unknown => tables.find(({ table }) => table === name);
    const { rows } = await database.pool.query('SELECT count(*)::int AS count, min(at) AS since FROM audit_log');
    expect(of('audit_log')).toEqual({
      table: 'audit_log',
      bytes: expect.any(Number),
      rows: rows[0].count,
      countedAt: expect.any(Date),
      since: rows[0].since,
    });
    expect(of('webhook_delivery')).toMatchObject({ rows: null, countedAt: null, since: null });
    expect(tables.map((each) => each.bytes)).toEqual([...tables.map((each) => each.bytes)].sort((a, b) => b - a));
    expect(bytes).toBeGreaterThan(tables.reduce((sum, each) => sum + each.bytes, 0));
  });

  it('are told of every table', async () => {
    const { rows } = await database.pool.query("SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1");
    const { tables } = await readTableSizes(database.pool);
    expect(tables.map(({ table }) => table).sort()).toEqual(rows.map(({ tablename }) => tablename));
  });
});
