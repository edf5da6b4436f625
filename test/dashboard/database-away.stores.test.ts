import { randomUUID } from 'node:crypto';
import { type Pool } from 'pg';
import { createPool } from '../../plugins/stores/postgres/pool';
import { isDatabaseAway } from '../../services/dashboard/api/http/answer-error';
import { eventually } from '../support/eventually';
import { type Line, openLine } from '../stores/quota/line';
import { testDatabase, type TestDatabase } from '../support/postgres/postgres';
import { PASSWORD, startDashboard, tokenOf, type TestDashboard } from './support/dashboard';

let database: TestDatabase;
let line: Line;
let pool: Pool;
let dashboard: TestDashboard;
let cookie: string;

beforeAll(async () => {
  database = await testDatabase();
  line = await openLine(database.url);
  pool = createPool(line.url, { max: 4, statementTimeoutMs: 60_000 });
  dashboard = await startDashboard({ db: pool });
  cookie = await dashboard.signIn('asha@example.com');
});
afterAll(async () => {
  line.mend();
  await dashboard.close();
  line.close();
  await database.close();
});
beforeEach(() => line.mend());

const sign = { method: 'POST', path: '/api/auth/sign-in/email', body: { email: 'asha@example.com', password: PASSWORD } } as const;
const asks = [
  ['a list', () => dashboard.ask({ path: '/api/keys', cookie })],
  [
    'a change',
    () =>
      dashboard.ask({ method: 'POST', path: '/api/keys', cookie, body: { submission: randomUUID(), mode: 'test', products: ['api-ip'] } }),
  ],
  ['who is signed in', () => dashboard.ask({ path: '/api/session', cookie })],
  ['signing in', () => dashboard.ask(sign)],
  [
    'verifying',
    () =>
      dashboard.ask({ method: 'POST', path: '/api/auth/verify-email', body: { token: tokenOf(dashboard.mails[0]), password: PASSWORD } }),
  ],
  [
    'signing up',
    () => dashboard.ask({ method: 'POST', path: '/api/auth/sign-up/email', body: { email: 'new@example.com', password: PASSWORD } }),
  ],
  ['a list of sessions', () => dashboard.ask({ path: '/api/auth/list-sessions', cookie })],
  [
    'a new password',
    () =>
      dashboard.ask({
        method: 'POST',
        path: '/api/auth/change-password',
        cookie,
        body: { currentPassword: PASSWORD, newPassword: 'another long one' },
      }),
  ],
  ['a reset', () => dashboard.ask({ method: 'POST', path: '/api/auth/request-password-reset', body: { email: 'asha@example.com' } })],
] as const;

describe('without PostgreSQL', () => {
  it.each(asks)('%s is answered with 503, and works again by itself', async (_what, ask) => {
    line.cut();
    const answer = await ask();
    expect([answer.statusCode, answer.json().code, answer.headers['retry-after']]).toEqual([503, 'service_not_ready', '1']);
    expect(answer.headers['set-cookie']).toBeUndefined();
    line.mend();
    await eventually(async () => (await dashboard.ask({ path: '/api/keys', cookie })).statusCode === 200);
  });

  it('that hangs instead of breaking, the answer is 503 too, and in time', async () => {
    // New connections take no longer than this for a statement; the old ones are ended.
    const usual = { ...pool.options };
    Object.assign(pool.options, { statement_timeout: 500, query_timeout: 500, connectionTimeoutMillis: 500 });
    line.cut();
    await eventually(() => pool.totalCount === 0);
    line.mend();
    line.hang();
    const answers = await Promise.all(asks.map(([, ask]) => ask()));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual(asks.map(() => 503));
    Object.assign(pool.options, usual);
    line.cut();
    line.mend();
    await eventually(async () => (await dashboard.ask({ path: '/api/keys', cookie })).statusCode === 200);
  });

  it('what needs none is answered', async () => {
    line.cut();
    expect((await dashboard.ask({ path: '/api/installation' })).statusCode).toBe(200);
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
