import { listKeysPage } from '../../plugins/stores/postgres/keys/list-keys-page';
import { startDashboard, type TestDashboard } from './support/dashboard';

const MANY = 10_000;
let dashboard: TestDashboard;
let cookie: string;
let customerId: string;

/** One statement, as 10,000 calls would take a minute; groups of ten are of the same microsecond. */
const FILL = `
INSERT INTO credential (customer_id, hash, prefix, last_four, mode, name, state, expires_at, created_at)
SELECT $1, sha256(n::text::bytea), 'tg_live', lpad((n % 10000)::text, 4, '0'), 'live', CASE WHEN n % 100 = 0 THEN 'Büro ' || n END,
  CASE n % 4 WHEN 1 THEN 'inactive' WHEN 2 THEN 'revoked' ELSE 'active' END,
  CASE WHEN n % 4 = 3 THEN timestamptz '2020-01-01' END, timestamptz '2026-01-01' + (n / 10) * interval '1 microsecond'
FROM generate_series(1, ${MANY}) n`;

beforeAll(async () => {
  dashboard = await startDashboard();
  cookie = await dashboard.signIn('many@example.com');
  ({ customerId } = (await dashboard.ask({ path: '/api/session', cookie })).json());
  await dashboard.pool.query(FILL, [customerId]);
  await dashboard.pool.query('ANALYZE credential');
});
afterAll(() => dashboard.close());

const page = async (query: string) => (await dashboard.ask({ path: `/api/keys?${query}`, cookie })).json();

describe('10,000 keys of one customer', () => {
  it('come in pages that hold each key once, newest first, and end', async () => {
    const seen: { id: string; createdAt: string }[] = [];
    let after = '';
    do {
      const { keys, next, total } = await page(`limit=100${after && `&after=${after}`}`);
      expect(total).toBe(MANY);
      expect(keys.length).toBe(100);
      seen.push(...keys);
      after = next;
    } while (after !== null);
    expect(new Set(seen.map(({ id }) => id)).size).toBe(MANY);
    expect(seen.map(({ createdAt }) => createdAt)).toEqual(
      seen
        .map(({ createdAt }) => createdAt)
        .sort()
        .reverse(),
    );
  });

  it('stay in their pages while new ones are made', async () => {
    const first = await page('limit=10');
    await dashboard.pool.query(
      "INSERT INTO credential (customer_id, hash, prefix, last_four, mode) VALUES ($1, sha256('new'), 'tg_live', 'zzzz', 'live')",
      [customerId],
    );
    const second = await page(`limit=10&after=${first.next}`);
    await dashboard.pool.query("DELETE FROM credential WHERE last_four = 'zzzz'");
    const both = await page('limit=20');
    expect([...first.keys, ...second.keys]).toEqual(both.keys);
  });

  it('are found by part of the name or of the shown key, and by state, on the server', async () => {
    expect((await page(`search=${encodeURIComponent('BÜRO')}`)).total).toBe(100);
    expect((await page('search=0042')).keys.map(({ maskedKey }: { maskedKey: string }) => maskedKey)).toEqual(['tg_live…0042']);
    expect((await page('search=%25')).total).toBe(0);
    const totals = await Promise.all(
      ['active', 'inactive', 'expired', 'revoked'].map(async (state) => (await page(`state=${state}`)).total),
    );
    expect(totals).toEqual([2_500, 2_500, 2_500, 2_500]);
  });

  it('cost a page the rows it shows: no other key is read, at the beginning or at the end', async () => {
    const { keys } = await page('limit=100&state=revoked');
    const cursor = Buffer.from(`2026-01-01 00:00:00.0001+00|${keys[0].id}`).toString('base64url');
    for (const after of [undefined, cursor]) {
      const spy = jest.spyOn(dashboard.pool, 'query');
      await listKeysPage(dashboard.pool, { customerId, limit: 25, after });
      const [text, values] = spy.mock.calls[0] as unknown as [string, unknown[]];
      spy.mockRestore();
      const { rows } = await dashboard.pool.query(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
      const plan = JSON.stringify(rows[0]['QUERY PLAN']);
      expect(plan).toContain('credential_customer_created_idx');
      const touched = [...plan.matchAll(/"(?:Actual Rows|Rows Removed by Filter|Rows Removed by Index Recheck)":([\d.]+)/g)];
      expect(touched.length).toBeGreaterThan(3);
      expect(Math.max(...touched.map(([, count]) => Number(count)))).toBeLessThanOrEqual(26);
    }
  });

  it('begin again with a cursor that cannot be read', async () => {
    const first = await page('limit=5');
    for (const cursor of [
      'nonsense',
      Buffer.from("2026-01-01 00:00:00+00|' OR 1=1").toString('base64url'),
      Buffer.from('2026-99-99 00:00:00+00|x').toString('base64url'),
    ]) {
      expect((await page(`limit=5&after=${cursor}`)).keys).toEqual(first.keys);
    }
  });
});
