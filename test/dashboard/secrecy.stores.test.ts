import { randomUUID } from 'node:crypto';
import { PASSWORD, startDashboard, tokenOf, type TestDashboard } from './support/dashboard';

let dashboard: TestDashboard;
let cookie: string;
/** Every answer after the one that shows a secret. */
const bodies: string[] = [];

beforeAll(async () => {
  dashboard = await startDashboard({ hasOutbox: true });
  cookie = await dashboard.signIn('asha@example.com');
});
afterAll(() => dashboard.close());

async function ask(method: 'GET' | 'POST' | 'PATCH', path: string, body?: unknown) {
  const answer = await dashboard.ask({ method, path, body, cookie });
  bodies.push(answer.body);
  return answer;
}

describe('secrets', () => {
  it('of keys are in exactly one answer, in no log, and nowhere in the database', async () => {
    const made = await ask('POST', '/api/keys', { submission: randomUUID(), mode: 'live', products: ['api-ip'], name: 'n' });
    const { secret, key } = made.json();
    const rotated = await ask('POST', `/api/keys/${key.id}/rotate`, { version: key.version, submission: randomUUID(), overlapHours: 1 });
    const next = rotated.json();
    for (const path of ['/api/keys', `/api/keys/${key.id}`, `/api/keys/${next.key.id}`, '/api/products', '/api/session'])
      await ask('GET', path);
    await ask('PATCH', `/api/keys/${next.key.id}`, { version: next.key.version, name: secret });
    for (const each of [secret, next.secret]) {
      // A person may name a key by the secret of another: it is theirs to give away.
      expect(bodies.filter((body) => JSON.stringify({ ...JSON.parse(body), name: '' }).includes(each))).toHaveLength(1);
      expect(dashboard.log()).not.toContain(each);
    }
    await dashboard.pool.query('UPDATE credential SET name = NULL');
    const { rows } = await dashboard.pool.query<{ tables: string }>(
      `SELECT string_agg(query_to_xml(format('SELECT * FROM %I', relname), true, false, '')::text, '') AS tables
       FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace AND relname <> 'audit_log'`,
    );
    expect(rows[0]?.tables).not.toContain(next.secret);
  });

  it('of people and mail are in no log: neither passwords, cookies, addresses, nor the links', async () => {
    const wrong = 'a password that is wrong';
    await dashboard.ask({ method: 'POST', path: '/api/auth/sign-in/email', body: { email: 'asha@example.com', password: wrong } });
    await dashboard.ask({ method: 'POST', path: '/api/auth/request-password-reset', body: { email: 'asha@example.com' } });
    for (const token of ['very-secret-token', tokenOf(dashboard.mails[0])]) {
      await dashboard.ask({ path: `/verify?token=${token}` });
      await dashboard.ask({ path: `/api/auth/verify-email?token=${token}` });
      await dashboard.ask({ method: 'POST', path: '/api/auth/verify-email', body: { token, password: wrong } });
    }
    await dashboard.ask({ path: '/reset-password?token=very-secret-token' });
    const tokens = dashboard.mails.flatMap(({ text }) => [...text.matchAll(/token=([\w.-]+)/g)].map(([, token = '']) => token));
    expect(tokens.length).toBeGreaterThan(0);
    const secrets = [PASSWORD, wrong, 'very-secret-token', 'asha@example.com', ...tokens, cookie.split('=')[1] ?? ''];
    for (const secret of secrets) expect(dashboard.log()).not.toContain(secret);
    expect(dashboard.log()).toContain('a mail lies in the outbox');
    expect(dashboard.log()).toContain('http://dashboard.test/outbox');
  });

  it('in the outbox are shown in the embedded run, and there is no such page where mail is sent', async () => {
    const { mails } = (await dashboard.ask({ path: '/api/outbox' })).json();
    expect(mails[0]).toEqual({
      id: expect.any(String),
      at: expect.any(String),
      to: 'asha@example.com',
      subject: expect.any(String),
      text: expect.stringContaining('http'),
    });
    for (const host of ['dashboard.test', 'localhost:8080', '127.0.0.1:8080', '[::1]:8080'])
      expect((await dashboard.ask({ path: '/api/outbox', headers: { host } })).statusCode).toBe(200);
    const sending = await startDashboard();
    try {
      expect((await sending.ask({ path: '/api/outbox' })).statusCode).toBe(404);
      expect((await sending.ask({ path: '/api/installation' })).json()).toEqual({
        hasOutbox: false,
        gatewayUrl: 'http://gateway.test',
        providers: [],
        hasPasskeys: false,
      });
    } finally {
      await sending.close();
    }
  });

  it('in the outbox are not for a page of another site whose name leads to this machine', async () => {
    for (const host of ['evil.example', 'evil.example:8080', 'localhost.evil.example']) {
      const answer = await dashboard.ask({ path: '/api/outbox', headers: { host } });
      expect([answer.statusCode, answer.json().mails]).toEqual([403, undefined]);
    }
  });
});
