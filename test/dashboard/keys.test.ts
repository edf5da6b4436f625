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
    expect(page.json()).toEqual({ keys: [key], next: null, total: 1 });
    expect(page.body).not.toContain(secret);
    expect(key.name).toBe('<b>🚀 & co</b>');
  });
});
