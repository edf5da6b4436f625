import { setCustomerLimits } from '../../plugins/stores/postgres/customers/customer-limits';
import { startDashboard, type TestDashboard } from './support/dashboard';

const EMAIL = 'asha@example.com';

let dashboard: TestDashboard;
beforeEach(async () => {
  dashboard = await startDashboard();
});
afterEach(() => dashboard.close());

describe('changes that a customer asks for', () => {
  const limit = (writesPerMinute: number): Promise<unknown> =>
    setCustomerLimits(dashboard.pool, { customer: EMAIL, limits: { writesPerMinute }, actor: 'test' });
  const read = (cookie: string) => dashboard.ask({ path: '/api/keys', cookie });
  const write = (cookie: string) => dashboard.ask({ method: 'POST', path: '/api/alerts/read', body: {}, cookie });

  it('are so many a minute, over all sessions, and the refusal says when to come again', async () => {
    const sessions = [await dashboard.signIn(EMAIL), await dashboard.signIn(EMAIL)];
    await read(sessions[0] ?? '');
    await limit(5);
    const answers = [];
    for (let count = 0; count < 8; count++) answers.push(await write(sessions[count % 2] ?? ''));
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([204, 204, 204, 204, 204, 429, 429, 429]);
    const last = answers.at(-1);
    expect(last?.json()).toMatchObject({ code: 'too_many_attempts', status: 429 });
    expect(Number(last?.headers['retry-after'])).toBeGreaterThan(0);
    expect(Number(last?.headers['retry-after'])).toBeLessThanOrEqual(60);
    await limit(10);
    expect((await write(sessions[0] ?? '')).statusCode).toBe(204);
  });

  it('that are refused for being too many leave reading and other customers alone', async () => {
    const [cookie, other] = [await dashboard.signIn(EMAIL), await dashboard.signIn('ravi@example.com')];
    await read(cookie);
    await limit(1);
    await write(cookie);
    expect((await write(cookie)).statusCode).toBe(429);
    expect((await read(cookie)).statusCode).toBe(200);
    expect((await write(other)).statusCode).toBe(204);
  });
});
