import { randomUUID } from 'node:crypto';
import { useDashboard, verdict, readPages } from '../../support/dashboard';
import { listTags } from '../../../../services/selling/keys/key-tags';
import { type KeysPageQuery, listKeysPage } from '../../../../services/selling/keys/list-keys-page';
import { type PlanNode } from '../../support/rows-read';

describe('keys of a customer', () => {
  const dashboard = useDashboard();
  let cookie: string;
  beforeAll(async () => {
    cookie = await dashboard.signIn('asha@example.com');
  });

  describe('keys', () => {
    it('are made, and shown without their secret from then on', async () => {
      const made = await dashboard.ask({
        method: 'POST',
        path: '/api/keys',
        cookie,
        body: { submission: randomUUID(), name: '<b>🚀 & co</b>', mode: 'test', products: ['api-ip'], rules: ['10.0.0.0/8'] },
      });
      expect([made.statusCode, made.body]).toEqual([200, expect.stringContaining('tg_test_')]);
      const { secret, key } = made.json();
      const page = await dashboard.ask({ path: '/api/keys', cookie });
      const { rules: _rules, version: _version, replaces: _replaces, replacedBy: _replacedBy, ...listed } = key;
      expect(page.json()).toEqual({ keys: [listed], next: null, total: 1 });
      const own = await dashboard.ask({ path: `/api/keys/${key.id}`, cookie });
      expect(own.json()).toEqual(key);
      expect(`${page.body}${own.body}`).not.toContain(secret);
      expect(key.name).toBe('<b>🚀 & co</b>');
    });

    it('are rotated once by a form that is sent twice, and know which replaced which and until when both work', async () => {
      const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'] };
      const { key: old } = (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie, body })).json();
      expect(old).toMatchObject({ replaces: null, replacedBy: null });
      const rotation = { version: old.version, submission: randomUUID(), overlapHours: 24 };
      const rotate = () => dashboard.ask({ method: 'POST', path: `/api/keys/${old.id}/rotate`, cookie, body: rotation });
      const answers = await Promise.all([rotate(), rotate()]);
      expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
      const [{ key }] = answers.flatMap((answer) => (answer.statusCode === 200 ? [answer.json()] : []));
      const before = (await dashboard.ask({ path: `/api/keys/${old.id}`, cookie })).json();
      expect(before.replacedBy).toEqual({ id: key.id, maskedKey: key.maskedKey, works: true, expiresAt: null });
      expect(key.replaces).toEqual({ id: old.id, maskedKey: old.maskedKey, works: true, expiresAt: before.expiresAt });
      expect(Date.parse(before.expiresAt) - Date.parse(key.createdAt)).toBe(86_400_000);
    });

    it('have their rules replaced 60 times a minute at most, however many keys: each replacement stays in the audit log', async () => {
      const eager = await dashboard.signIn('eager@example.com');
      const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'] };
      const { key } = (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie: eager, body })).json();
      let { version } = key;
      const replace = async (index: number): Promise<number> => {
        const replacement = { version, rules: [`10.0.0.${index}`] };
        const answer = await dashboard.ask({ method: 'PUT', path: `/api/keys/${key.id}/rules`, cookie: eager, body: replacement });
        ({ version = version } = answer.json());
        return answer.statusCode;
      };
      expect(await replace(0)).toBe(200);
      await dashboard.pool.query("UPDATE auth_rate_limit SET count = 59 WHERE key LIKE '%rules%'");
      expect([await replace(1), await replace(2), await replace(3)]).toEqual([200, 429, 429]);
    });

    it('hold 1,000 rules at most, and a refusal says so: when they are made, when rules are replaced and when rules are tried out', async () => {
      const crowded = await dashboard.signIn('crowded@example.com');
      const rulesOf = (count: number): string[] => Array.from({ length: count }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
      const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'], rules: rulesOf(1_000) };
      const { key } = (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie: crowded, body })).json();
      expect(key.rules).toHaveLength(1_000);
      const rules = rulesOf(1_001);
      for (const refused of [
        { method: 'POST', path: '/api/keys', body: { ...body, submission: randomUUID(), rules } },
        { method: 'PUT', path: `/api/keys/${key.id}/rules`, body: { version: key.version, rules } },
        { method: 'POST', path: `/api/keys/${key.id}/simulate`, body: { rules, address: '10.0.0.1' } },
      ] as const) {
        const answer = await dashboard.ask({ ...refused, cookie: crowded });
        expect([answer.statusCode, answer.body]).toEqual([400, expect.stringContaining('a key can have at most 1000 whitelist rules')]);
      }
    });

    it('subscribe their customer to products that they are given later, once the customer says so', async () => {
      const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'] };
      const { key } = (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie, body })).json();
      const change = { version: key.version, products: ['api-glead', 'api-ip', 'api-glead'], expiresAt: '2030-01-01T00:00:00.000Z' };
      const patch = (body: unknown) => dashboard.ask({ method: 'PATCH', path: `/api/keys/${key.id}`, cookie, body });
      expect(verdict(await patch(change))).toBe('409 subscription_needed');
      const changed = await patch({ ...change, subscribes: true });
      expect(changed.json()).toMatchObject({ products: ['api-glead', 'api-ip'], expiresAt: change.expiresAt, name: null });
      const { products } = (await dashboard.ask({ path: '/api/products', cookie })).json();
      expect(products.find(({ id }: { id: string }) => id === 'api-glead').subscription).toMatchObject({ state: 'active', plan: null });
      const back = { version: changed.json().version, products: ['api-glead'], expiresAt: null };
      const again = await dashboard.ask({ method: 'PATCH', path: `/api/keys/${key.id}`, cookie, body: back });
      expect(again.json()).toMatchObject({ products: ['api-glead'], expiresAt: null });
    });

    it('are changed under the name and address of who did it, and a change that is none is not recorded', async () => {
      const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'], name: 'one' };
      const { key } = (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie, body, from: '203.0.113.5' })).json();
      const rename = (version: string, name: string) =>
        dashboard.ask({ method: 'PATCH', path: `/api/keys/${key.id}`, cookie, body: { version, name }, from: '2001:db8::5' });
      const { version } = (await rename(key.version, 'two')).json();
      await rename(version, 'two');
      const { rows } = await dashboard.pool.query('SELECT action, actor, from_address FROM audit_log WHERE subject_id = $1 ORDER BY id', [
        key.id,
      ]);
      expect(rows).toEqual([
        { action: 'key.create', actor: 'dashboard:asha@example.com', from_address: '203.0.113.5' },
        { action: 'key.change', actor: 'dashboard:asha@example.com', from_address: '2001:db8::5' },
      ]);
    });
  });

  describe('the tags of a key', () => {
    const create = (tags: readonly string[]) => {
      const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'], tags };
      return dashboard.ask({ method: 'POST', path: '/api/keys', cookie, body });
    };
    const patch = ({ id, version }: { id: string; version: string }, change: object) =>
      dashboard.ask({ method: 'PATCH', path: `/api/keys/${id}`, cookie, body: { version, ...change } });

    it('are kept in lower case, each once and in order, and change as a whole', async () => {
      const { key } = (await create([' Shop ', 'prod:eu', 'SHOP', 'ünter'])).json();
      expect(key.tags).toEqual(['prod:eu', 'shop', 'ünter']);
      const changed = (await patch(key, { tags: ['shop', 'b'] })).json();
      expect(changed.tags).toEqual(['b', 'shop']);
      expect((await patch(changed, { name: 'kept' })).json()).toMatchObject({ name: 'kept', tags: ['b', 'shop'] });
    });

    it('are part of what a change is based on: who saw others is told', async () => {
      const { key } = (await create(['one'])).json();
      await patch(key, { tags: ['two'] });
      const late = await patch(key, { tags: ['three'] });
      expect([late.statusCode, late.json().code, late.json().current.tags]).toEqual([409, 'version_conflict', ['two']]);
    });

    it('go over to the key that replaces it', async () => {
      const { key } = (await create(['shop'])).json();
      const body = { version: key.version, submission: randomUUID(), overlapHours: 1 };
      const rotated = await dashboard.ask({ method: 'POST', path: `/api/keys/${key.id}/rotate`, cookie, body });
      expect(rotated.json().key.tags).toEqual(['shop']);
    });

    it.each([
      ['one that turns the text around', ['a\u202eb']],
      ['one of 41 characters', ['x'.repeat(41)]],
      ['an empty one', [' ']],
      ['eleven', Array.from({ length: 11 }, (_, index) => `t${index}`)],
    ])('are refused as a whole with %s', async (_what, tags) => {
      const answer = await create(tags);
      expect([answer.statusCode, answer.json().code]).toEqual([400, expect.stringMatching(/^(tag_malformed|invalid_request)$/)]);
    });

    it('are listed to their customer and to nobody else', async () => {
      await create(['mine-alone']);
      const stranger = await dashboard.signIn('stranger@example.com');
      const list = async (who: string): Promise<string[]> => (await dashboard.ask({ path: '/api/key-tags', cookie: who })).json().tags;
      expect(await list(cookie)).toContain('mine-alone');
      expect(await list(stranger)).toEqual([]);
      const found = await dashboard.ask({ path: '/api/keys?tag=mine-alone', cookie: stranger });
      expect(found.json()).toEqual({ keys: [], next: null, total: 0 });
    });
  });

  describe('revoking several keys', () => {
    async function makeKey(owner = cookie): Promise<string> {
      const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'] };
      return (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie: owner, body })).json().key.id;
    }
    const revoke = (ids: readonly string[]) => dashboard.ask({ method: 'POST', path: '/api/keys/revoke', cookie, body: { ids } });
    const stateOf = async (id: string): Promise<string> => {
      const { rows } = await dashboard.pool.query<{ state: string }>('SELECT state FROM credential WHERE id = $1', [id]);
      return rows[0]?.state ?? '';
    };
    const linesOf = async (ids: readonly string[]): Promise<string[]> => {
      const { rows } = await dashboard.pool.query<{ id: string }>(
        "SELECT subject_id AS id FROM audit_log WHERE action = 'key.revoke' AND subject_id = ANY ($1) ORDER BY id",
        [ids],
      );
      return rows.map(({ id }) => id);
    };

    it('ends each, with a line of the audit log for each', async () => {
      const ids = [await makeKey(), await makeKey(), await makeKey()];
      const answer = await revoke(ids);
      expect([answer.statusCode, [...answer.json().revoked].sort()]).toEqual([200, [...ids].sort()]);
      expect(await Promise.all(ids.map(stateOf))).toEqual(['revoked', 'revoked', 'revoked']);
      expect((await linesOf(ids)).sort()).toEqual([...ids].sort());
    });

    it('again changes and records nothing, however often a key is named', async () => {
      const old = await makeKey();
      await revoke([old]);
      const fresh = await makeKey();
      expect((await revoke([old, fresh, fresh.toUpperCase()])).json()).toEqual({ revoked: [fresh] });
      expect((await revoke([old, fresh])).json()).toEqual({ revoked: [] });
      expect((await linesOf([old, fresh])).sort()).toEqual([old, fresh].sort());
    });

    it('does nothing at all when one of them is another customer’s, which reads as one that never was', async () => {
      const mine = await makeKey();
      const theirs = await makeKey(await dashboard.signIn('stranger@example.com'));
      for (const other of [theirs, randomUUID()]) {
        expect(verdict(await revoke([mine, other]))).toBe('404 key_unknown');
      }
      expect([await stateOf(mine), await stateOf(theirs)]).toEqual(['active', 'active']);
      expect(await linesOf([mine, theirs])).toEqual([]);
    });

    it('by two people at once ends each key once', async () => {
      const ids = await Promise.all(Array.from({ length: 8 }, () => makeKey()));
      const answers = await Promise.all([revoke(ids), revoke([...ids].reverse())]);
      expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200]);
      expect(answers.flatMap((answer) => answer.json().revoked).sort()).toEqual([...ids].sort());
      expect((await linesOf(ids)).length).toBe(8);
    });

    it.each([
      ['none', []],
      ['more than a page', Array.from({ length: 101 }, () => randomUUID())],
      ['what is no id', ['x']],
    ])('is refused for %s', async (_what, ids) => {
      expect((await revoke(ids)).statusCode).toBe(400);
    });
  });
});

describe('a customer with 10,000 keys', () => {
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
      { product: 'api-ip' },
      { mode: 'test' },
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
});
