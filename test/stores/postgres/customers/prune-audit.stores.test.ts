import { pruneAudit } from '../../../../plugins/stores/postgres/customers/prune-audit';
import { createPool } from '../../../../plugins/stores/postgres/pool';
import { testDatabase, type TestDatabase } from '../../../support/postgres/postgres';

let database: TestDatabase;
beforeEach(async () => {
  database = await testDatabase();
});
afterEach(() => database.close());

/** Lines whose ages in days are these. */
async function linesOf(...days: number[]): Promise<void> {
  const INSERT = `INSERT INTO audit_log (at, actor, action, subject_kind, subject_id) VALUES (now() - $1 * interval '1 day', 'test', 'key.create', 'product', $2)`;
  for (const age of days) await database.pool.query(INSERT, [age, String(age)]);
}

const ages = async (): Promise<number[]> =>
  (
    await database.pool.query<{ subject_id: string }>("SELECT subject_id FROM audit_log WHERE subject_id ~ '^[0-9]+$' ORDER BY id")
  ).rows.map((row) => Number(row.subject_id));

describe('the audit log', () => {
  it('loses the lines that are older than it is told, in batches, and no other', async () => {
    const { rows } = await database.pool.query<{ count: number }>('SELECT count(*)::int AS count FROM audit_log');
    await linesOf(900, 800, 700, 600, 500, 401, 399, 100, 1);
    // Two old lines at a time, behind those that a new database has.
    const batch = (rows[0]?.count ?? 0) + 2;
    expect(await pruneAudit(database.pool, { days: 400, batch })).toBe(6);
    expect(await ages()).toEqual([399, 100, 1]);
    expect(await pruneAudit(database.pool, { days: 400 })).toBe(0);
  });

  it('keeps the lines of 90 days whoever asks for how few', async () => {
    await linesOf(91, 89, 0);
    await pruneAudit(database.pool, { days: 1 });
    expect(await ages()).toEqual([89, 0]);
    await expect(database.pool.query('DELETE FROM audit_log')).rejects.toMatchObject({ constraint: 'audit_log_is_append_only' });
    await expect(database.pool.query('DELETE FROM audit_log WHERE subject_id = $1', ['89'])).rejects.toThrow('only ever appended');
  });

  it('is pruned by the plugin server’s role, which may delete no line by itself, and by no other process', async () => {
    await linesOf(500);
    for (const role of ['tollgate_dashboard', 'tollgate_service'] as const) {
      const other = createPool(database.urlAs(role), { max: 1 });
      await expect(pruneAudit(other, { days: 400 })).rejects.toMatchObject({ code: '42501' });
      await other.end();
    }
    const plugin = createPool(database.urlAs('tollgate_plugin'), { max: 1 });
    await expect(plugin.query('DELETE FROM audit_log')).rejects.toMatchObject({ code: '42501' });
    expect(await pruneAudit(plugin, { days: 400 })).toBe(1);
    await plugin.end();
  });
});
