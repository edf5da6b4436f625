import { randomUUID } from 'node:crypto';
import { startDashboard, type TestDashboard } from './support/dashboard';

let dashboard: TestDashboard;
let cookie: string;

beforeAll(async () => {
  dashboard = await startDashboard();
  cookie = await dashboard.signIn('asha@example.com');
});
afterAll(() => dashboard.close());

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

  it('subscribe their customer to products that they are given later, once the customer says so', async () => {
    const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'] };
    const { key } = (await dashboard.ask({ method: 'POST', path: '/api/keys', cookie, body })).json();
    const change = { version: key.version, products: ['api-gst', 'api-ip', 'api-gst'], expiresAt: '2030-01-01T00:00:00.000Z' };
    const patch = (body: unknown) => dashboard.ask({ method: 'PATCH', path: `/api/keys/${key.id}`, cookie, body });
    const unasked = await patch(change);
    expect([unasked.statusCode, unasked.json().code]).toEqual([409, 'subscription_needed']);
    const changed = await patch({ ...change, subscribes: true });
    expect(changed.json()).toMatchObject({ products: ['api-gst', 'api-ip'], expiresAt: change.expiresAt, name: null });
    const { products } = (await dashboard.ask({ path: '/api/products', cookie })).json();
    expect(products.find(({ id }: { id: string }) => id === 'api-gst').subscription).toMatchObject({ state: 'active', plan: null });
    const back = { version: changed.json().version, products: ['api-gst'], expiresAt: null };
    const again = await dashboard.ask({ method: 'PATCH', path: `/api/keys/${key.id}`, cookie, body: back });
    expect(again.json()).toMatchObject({ products: ['api-gst'], expiresAt: null });
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
