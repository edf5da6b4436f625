import { listTags } from '../../../../services/selling/keys/key-tags';
import { type KeysPageQuery, listKeysPage } from '../../../../services/selling/keys/list-keys-page';
import { readPages, useDashboard } from '../../support/dashboard';
import { type PlanNode } from '../../support/rows-read';

const MANY = 10_000;
const dashboard = useDashboard();
let cookie: string;
let customerId: string;

/** One statement, as 10,000 calls would take a minute; groups of ten are of the same microsecond. */
const FILL = `
INSERT INTO credential (customer_id, hash, prefix, last_four, mode, name, state, planned_expires_at, created_at)
SELECT $1, sha256(n::text::bytea), 'tg_' || m, lpad((n % 10000)::text, 4, '0'), m, CASE WHEN n % 100 = 0 THEN 'Büro ' || n END,
  CASE n % 4 WHEN 1 THEN 'inactive' WHEN 2 THEN 'revoked' ELSE 'active' END,
  CASE WHEN n % 4 = 3 THEN timestamptz '2020-01-01' END, timestamptz '2026-01-01' + (n / 10) * interval '1 microsecond'
FROM generate_series(1, ${MANY}) n, LATERAL (SELECT CASE WHEN n % 20 = 7 THEN 'test' ELSE 'live' END AS m) AS modes`;

/** Each second key is for api-gst, each twentieth a test key, and each 500th has the tag `rare`. */
const LABEL = [
  "INSERT INTO credential_product (credential_id, product_id) SELECT id, 'api-ip' FROM credential",
  "INSERT INTO credential_product (credential_id, product_id) SELECT id, 'api-gst' FROM credential WHERE last_four::integer % 2 = 0",
  "INSERT INTO credential_tag (credential_id, tag) SELECT id, 'common' FROM credential WHERE last_four::integer % 3 = 0",
  "INSERT INTO credential_tag (credential_id, tag) SELECT id, 'rare' FROM credential WHERE last_four::integer % 500 = 0",
  'ANALYZE',
];

beforeAll(async () => {
  cookie = await dashboard.signIn('many@example.com');
  ({ customerId } = (await dashboard.ask({ path: '/api/session', cookie })).json());
  await dashboard.pool.query(FILL, [customerId]);
  for (const statement of LABEL) await dashboard.pool.query(statement);
});

interface ShownKey {
  readonly id: string;
  readonly name: string | null;
  readonly expiresAt: string | null;
  readonly createdAt: string;
}
const page = async (query: string) => (await dashboard.ask({ path: `/api/keys?${query}`, cookie })).json();

/** Of keys, or of what they are found by; the products and tags of the 25 that are shown are read besides. */
const MAX_ROWS = 50;

/** Rows that a page's statement reads to find its keys, those that it throws away included: the most of one table. */
async function rowsTouched(query: KeysPageQuery): Promise<number> {
  const spy = jest.spyOn(dashboard.pool, 'query');
  await listKeysPage(dashboard.pool, query);
  const statements = spy.mock.calls as unknown as [string, unknown[]][];
  spy.mockRestore();
  expect(statements).toHaveLength(1);
  const [[text, values] = ['', []]] = statements;
  const { rows } = await dashboard.pool.query<{ 'QUERY PLAN': [{ Plan: PlanNode }] }>(`EXPLAIN (ANALYZE, FORMAT JSON) ${text}`, values);
  const touched = new Map<string, number>();
  const read = (node: PlanNode): void => {
    const { 'Rows Removed by Filter': filtered = 0, 'Rows Removed by Index Recheck': rechecked = 0 } = node;
    const { 'Relation Name': table = '', 'Index Name': index = '' } = node;
    const finds = table === 'credential' || /_order_idx$/.test(index) || node['Node Type'] === 'Seq Scan';
    if (finds) touched.set(table, (touched.get(table) ?? 0) + (node['Actual Rows'] + filtered + rechecked) * node['Actual Loops']);
    for (const each of node.Plans ?? []) read(each);
  };
  if (rows[0]) read(rows[0]['QUERY PLAN'][0].Plan);
  expect(touched.get('credential')).toBeGreaterThan(0);
  return Math.max(...touched.values());
}

describe('10,000 keys of one customer', () => {
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
    expect((await page(`count=true&search=${encodeURIComponent('BÜRO')}`)).total).toBe(100);
    expect((await page('search=0042')).keys.map(({ maskedKey }: { maskedKey: string }) => maskedKey)).toEqual(['tg_live…0042']);
    expect((await page('search=%25')).total).toBe(0);
    const totals = await Promise.all(
      ['active', 'inactive', 'expired', 'revoked'].map(async (state) => (await page(`count=true&state=${state}`)).total),
    );
    expect(totals).toEqual([2_500, 2_500, 2_500, 2_500]);
  });

  it('are counted when somebody asks, and when they fit on one page', async () => {
    expect((await page('limit=5')).total).toBeNull();
    expect((await page('tag=rare&limit=25')).total).toBe(20);
    expect((await page('tag=rare&limit=5&count=true')).total).toBe(20);
  });

  it.each([
    ['name', (key: ShownKey) => key.name ?? '~'],
    ['expires', (key: ShownKey) => key.expiresAt ?? '~'],
    ['created, the newest first,', (key: ShownKey) => key.createdAt],
  ])('come in the order of %s each once, through all pages', async (order, placeOf) => {
    const [sort] = order.split(',');
    const seen: ShownKey[] = await readPages('keys', (after) =>
      dashboard.ask({ path: `/api/keys?product=api-gst&limit=100&sort=${sort}${after}`, cookie }),
    );
    expect(new Set(seen.map(({ id }) => id)).size).toBe(MANY / 2);
    const places = sort === 'created' ? seen.map(placeOf).reverse() : seen.map(placeOf);
    expect(places.every((place, index) => index === 0 || (places[index - 1] ?? '') <= place)).toBe(true);
  });

  it('are filtered by product, mode, state and tag, also at once', async () => {
    const total = async (query: string): Promise<number> => (await page(`count=true&${query}`)).total;
    expect(await total('product=api-gst')).toBe(5_000);
    expect(await total('mode=test')).toBe(500);
    expect(await total('tag=Common')).toBe(3_334);
    expect(await total('product=api-ip&mode=live&state=active&tag=rare')).toBe(20);
    expect(await total('product=api-seo')).toBe(0);
    expect(await listTags(dashboard.pool, customerId, 10)).toEqual(['common', 'rare']);
  });

  const usual: readonly Partial<KeysPageQuery>[] = [
    {},
    { sort: 'name' },
    { sort: 'expires' },
    { product: 'api-ip' },
    { product: 'api-gst' },
    { mode: 'test' },
    { mode: 'live', sort: 'name' },
    { state: 'revoked' },
    { state: 'expired', sort: 'expires' },
    { tag: 'rare' },
    { tag: 'common' },
  ];
  it.each(usual.map((query) => [JSON.stringify(query), query] as const))(
    'cost a page the rows it shows, the first and one in the middle: %s',
    async (_name, wanted) => {
      const query = { ...wanted, customerId, limit: 25 };
      const { next } = await listKeysPage(dashboard.pool, { ...query, limit: 19 });
      expect(next).toEqual(expect.any(String));
      for (const after of [undefined, next]) expect(await rowsTouched({ ...query, after })).toBeLessThanOrEqual(MAX_ROWS);
    },
  );

  it('begin again with a cursor that cannot be read', async () => {
    const first = await page('limit=5');
    for (const cursor of [
      'nonsense',
      Buffer.from("created|' OR 1=1|2026-01-01 00:00:00+00").toString('base64url'),
      Buffer.from(`created|${first.keys[0].id}|2026-99-99 00:00:00+00`).toString('base64url'),
      Buffer.from(`name|${first.keys[0].id}|0a`).toString('base64url'),
    ]) {
      expect((await page(`limit=5&after=${cursor}`)).keys).toEqual(first.keys);
    }
    const byName = await page('limit=5&sort=name');
    const broken = Buffer.from(`name|${first.keys[0].id}|0a\0b`).toString('base64url');
    expect((await page(`limit=5&sort=name&after=${broken}`)).keys).toEqual(byName.keys);
  });
});
