import { randomUUID } from 'node:crypto';
import { useDashboard, verdict } from '../../support/dashboard';

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

  it('know, once one is rotated, which replaced it and until when both work', async () => {
    const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'] };
    const { key: old } = (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie, body })).json();
    expect(old).toMatchObject({ replaces: null, replacedBy: null });
    const rotation = { version: old.version, submission: randomUUID(), overlapHours: 24 };
    const { key } = (await dashboard.ask({ method: 'POST', path: `/api/keys/${old.id}/rotate`, cookie, body: rotation })).json();
    const before = (await dashboard.ask({ path: `/api/keys/${old.id}`, cookie })).json();
    expect(before.replacedBy).toEqual({ id: key.id, maskedKey: key.maskedKey, works: true, expiresAt: null });
    expect(key.replaces).toEqual({ id: old.id, maskedKey: old.maskedKey, works: true, expiresAt: before.expiresAt });
    expect(Date.parse(before.expiresAt) - Date.parse(key.createdAt)).toBe(86_400_000);
  });

  it('have their rules replaced 60 times a minute at most, however many keys: each replacement stays in the audit log', async () => {
    const eager = await dashboard.signIn('eager@example.com');
    const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'] };
    const { key } = (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie: eager, body })).json();
    const statuses = new Map<number, number>();
    let { version } = key;
    for (let index = 0; index < 62; index++) {
      const replacement = { version, rules: [`10.0.0.${index}`] };
      const answer = await dashboard.ask({ method: 'PUT', path: `/api/keys/${key.id}/rules`, cookie: eager, body: replacement });
      statuses.set(answer.statusCode, (statuses.get(answer.statusCode) ?? 0) + 1);
      ({ version = version } = answer.json());
    }
    expect([...statuses]).toEqual([
      [200, 60],
      [429, 2],
    ]);
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
    ['one that begins with a sign', ['-x']],
    ['one that turns the text around', ['a\u202eb']],
    ['one with a comma', ['a,b']],
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
