import { eventually } from '../../support/eventually';
import { PASSWORD, startDashboard, type TestDashboard, tokenOf } from '../support/dashboard';
import { randomUUID } from 'node:crypto';
import { openedForTests } from '../../support/opened';
import { type Pool } from 'pg';
import { createPool } from '../../../plugins/stores/postgres/pool';
import { isDatabaseAway } from '../../../services/dashboard/http/answer-error';
import { type FaultProxy, openFaultProxy } from '../../support/faults/fault-proxy';
import { testDatabase } from '../../support/postgres/postgres';

describe('without a database', () => {
  const opened = openedForTests();
  let line: FaultProxy;
  let pool: Pool;
  let dashboard: TestDashboard;
  let cookie: string;

  beforeAll(async () => {
    const database = await opened.keep(testDatabase());
    line = await opened.keep(openFaultProxy(database.url));
    pool = createPool(line.url, { max: 4, statementTimeoutMs: 60_000 });
    dashboard = await opened.keep(startDashboard({ db: pool }), async (each) => {
      line.setMode('pass');
      await each.close();
    });
    cookie = await dashboard.signUp('asha@example.com');
  });
  beforeEach(() => line.setMode('pass'));

  const get = (path: string) => dashboard.ask({ path: `/api${path}`, cookie });
  const post = (path: string, body: object) => dashboard.ask({ method: 'POST', path: `/api${path}`, cookie, body });
  const asks = [
    ['a list', () => get('/keys')],
    ['a change', () => post('/keys', { submission: randomUUID(), mode: 'test', products: ['api-ip'] })],
    ['who is signed in', () => get('/session')],
    ['signing in', () => post('/auth/sign-in/email', { email: 'asha@example.com', password: PASSWORD })],
    ['verifying', () => post('/auth/verify-email', { token: tokenOf(dashboard.mails[0]), password: PASSWORD })],
    ['signing up', () => post('/auth/sign-up/email', { email: 'new@example.com', password: PASSWORD })],
    ['a list of sessions', () => get('/auth/list-sessions')],
    ['a new password', () => post('/auth/change-password', { currentPassword: PASSWORD, newPassword: 'another long one' })],
    ['a reset', () => post('/auth/request-password-reset', { email: 'asha@example.com' })],
  ] as const;

  describe('without PostgreSQL', () => {
    // All of them at once by a database that hangs, below.
    it.each(asks.slice(0, 4))('%s is answered with 503, and works again by itself', async (_what, ask) => {
      line.setMode('cut');
      const answer = await ask();
      expect([answer.statusCode, answer.json().code, answer.headers['retry-after']]).toEqual([503, 'service_not_ready', '1']);
      expect(answer.headers['set-cookie']).toBeUndefined();
      line.setMode('pass');
      await eventually(async () => (await dashboard.ask({ path: '/api/keys', cookie })).statusCode === 200);
    });

    it('that hangs instead of breaking, the answer is 503 too, and in time', async () => {
      // New connections take no longer than this for a statement; the old ones are ended.
      const usual = { ...pool.options };
      Object.assign(pool.options, { statement_timeout: 500, query_timeout: 500, connectionTimeoutMillis: 500 });
      line.setMode('cut');
      await eventually(() => pool.totalCount === 0);
      line.setMode('pass');
      line.setMode('hang');
      const answers = await Promise.all(asks.map(([, ask]) => ask()));
      expect(answers.map(({ statusCode }) => statusCode)).toEqual(asks.map(() => 503));
      Object.assign(pool.options, usual);
      line.setMode('cut');
      line.setMode('pass');
      await eventually(async () => (await dashboard.ask({ path: '/api/keys', cookie })).statusCode === 200);
    });

    it('a page says so to a browser in the dress of the others, and to programs as a problem', async () => {
      const open = (accept: string) => dashboard.app.inject({ url: '/products/api-ip', headers: { host: 'dashboard.test', accept } });
      line.setMode('cut');
      const { statusCode, headers, body } = await open('text/html,*/*;q=0.8');
      expect([statusCode, headers['retry-after'], headers['cache-control']]).toEqual([503, '1', 'no-store']);
      expect(headers['content-security-policy']).toContain("default-src 'self'");
      expect(body).toMatch(/<header class="top">.*<h1>Back in a moment<\/h1>.*<a class="button" href="">Try again<\/a>/s);
      expect((await open('*/*')).json()).toMatchObject({ code: 'service_not_ready' });
      line.setMode('pass');
      await eventually(async () => (await open('text/html')).statusCode === 200);
      await pool.query('ALTER TABLE catalogue_revision RENAME TO elsewhere');
      const broken = await open('text/html').finally(() => pool.query('ALTER TABLE elsewhere RENAME TO catalogue_revision'));
      expect([broken.statusCode, /<h1>Something went wrong.*request <code>\w+<\/code>/s.test(broken.body)]).toEqual([500, true]);
    });

    it.each(['', 'tollgate.session_token=any'])('a page that explains a request says so, not that there is none (%s)', async (session) => {
      const url = '/explain?request=0123456789abcdef0123456789abcdef';
      const open = () => dashboard.app.inject({ url, headers: { host: 'dashboard.test', accept: 'text/html', cookie: session } });
      line.setMode('cut');
      const { statusCode, body } = await open();
      expect([statusCode, body.includes('The record of requests cannot be read right now')]).toEqual([503, true]);
      line.setMode('pass');
      if (session === '') await eventually(async () => (await open()).body.includes('Sign in to see this request'));
    });
  });

  describe('an error of the database', () => {
    it('is told from a mistake of ours', () => {
      expect(isDatabaseAway(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }))).toBe(true);
      expect(isDatabaseAway(new Error('outer', { cause: new Error('Connection terminated unexpectedly') }))).toBe(true);
      expect(isDatabaseAway(new AggregateError([Object.assign(new Error('x'), { code: 'ECONNREFUSED' })]))).toBe(true);
      expect(isDatabaseAway(Object.assign(new Error('syntax error'), { code: '42601' }))).toBe(false);
      expect(isDatabaseAway('ECONNREFUSED')).toBe(false);
    });
  });
});
