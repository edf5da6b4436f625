import { refuseCommonPassword } from '../../../services/dashboard/api/accounts/common-password';
import { createPasswordHasher } from '../../../services/dashboard/api/accounts/password-hash';
import { PASSWORD, startDashboard, type TestDashboard } from '../support/dashboard';
import { takeAttempt } from '../../../plugins/stores/postgres/customers/attempts';
import { isKnownPlace, rememberPlace } from '../../../plugins/stores/postgres/customers/known-place';

describe('passwords', () => {
  const EMAIL = 'asha.rao.1990@example.com';

  describe('a new password', () => {
    it.each([
      'password12',
      'Password123!',
      'p@ssw0rd2026',
      '1234567890',
      'qwertyuiop',
      'iloveyou12',
      'passwordpassword',
      'aaaaaaaaaaaa',
      'abababababab',
      '!!sunshine!!',
      EMAIL.split('@')[0] ?? '',
    ])('is refused when a guessing program tries it first: %s', async (password) => {
      await expect(refuseCommonPassword(password, EMAIL)).rejects.toMatchObject({ status: 400, kind: 'password_common' });
    });

    it.each([
      'correct horse battery',
      'eleven purple rickshaws',
      'a long password',
      'kJ8#mPq2Zx',
      'मेरा लंबा पासवर्ड',
      'the stranger knows it',
    ])('is taken when it is not: %s', async (password) => {
      await expect(refuseCommonPassword(password, EMAIL)).resolves.toBeUndefined();
    });

    it('is checked wherever one is chosen', async () => {
      const dashboard = await startDashboard();
      try {
        const cookie = await dashboard.signIn('asha@example.com');
        const weak = 'password12';
        for (const [path, body] of [
          ['/sign-up/email', { email: 'new@example.com', password: weak }],
          ['/reset-password', { newPassword: weak, token: 'x' }],
          ['/change-password', { currentPassword: 'x', newPassword: weak }],
        ] as const) {
          const answer = await dashboard.ask({ method: 'POST', path: `/api/auth${path}`, body, cookie });
          expect([path, answer.statusCode, answer.json().code]).toEqual([path, 400, 'password_common']);
        }
      } finally {
        await dashboard.close();
      }
    });
  });

  describe('hashing passwords', () => {
    it('sends away whoever comes while many wait, and serves the others', async () => {
      const hasher = createPasswordHasher();
      const results = await Promise.allSettled(Array.from({ length: 100 }, () => hasher.hash('a long password')));
      const refused = results.filter((result) => result.status === 'rejected');
      expect(refused).toHaveLength(100 - 4 - 64);
      for (const { reason } of refused) expect(reason).toMatchObject({ status: 503, options: { headers: { 'Retry-After': '1' } } });
      await expect(hasher.hash('a long password')).resolves.toMatch(/^\$argon2id\$/);
    });

    it('is 503 with Retry-After to those who sign in while hundreds do, and never an error in the log', async () => {
      const dashboard = await startDashboard();
      try {
        const signIn = (index: number) => {
          const body = { email: `nobody${index}@example.com`, password: 'a long password' };
          return dashboard.ask({ method: 'POST', path: '/api/auth/sign-in/email', body, from: `198.18.${index >> 8}.${index & 255}` });
        };
        const answers = await Promise.all(Array.from({ length: 300 }, (_, index) => signIn(index)));
        const busy = answers.filter(({ statusCode }) => statusCode === 503);
        expect(busy.length).toBeGreaterThan(0);
        for (const { headers } of busy) expect(headers['retry-after']).toBe('1');
        expect(answers.filter(({ statusCode }) => statusCode === 401)).toHaveLength(300 - busy.length);
        expect(dashboard.log()).not.toContain('"level":"error"');
      } finally {
        await dashboard.close();
      }
    });
  });
});

describe('attempts', () => {
  let dashboard: TestDashboard;
  beforeEach(async () => {
    dashboard = await startDashboard();
  });
  afterEach(() => dashboard.close());

  const EMAIL = 'asha@example.com';
  const signIn = (password: string, options: { from: string; email?: string; headers?: Record<string, string> }) =>
    dashboard.ask({ method: 'POST', path: '/api/auth/sign-in/email', body: { email: options.email ?? EMAIL, password }, ...options });

  describe('attempts to sign in', () => {
    it('at one account are few from one address, right password or not, while others still get in', async () => {
      await dashboard.signIn(EMAIL);
      const wrong = await Promise.all(Array.from({ length: 12 }, () => signIn('a wrong password', { from: '203.0.113.1' })));
      const statuses = wrong.map(({ statusCode }) => statusCode).sort();
      expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429]);
      const late = await signIn(PASSWORD, { from: '203.0.113.1' });
      expect([late.statusCode, late.json().code]).toEqual([429, 'too_many_attempts']);
      expect(Number(late.headers['retry-after'])).toBeGreaterThan(800);
      expect(Number(late.headers['retry-after'])).toBeLessThanOrEqual(900);
      expect((await signIn(PASSWORD, { from: '203.0.113.2' })).statusCode).toBe(200);
    });

    it('come from one place from wherever in a /64 of IPv6, which is one subscriber’s', async () => {
      await dashboard.signIn(EMAIL);
      const guess = (from: string) => signIn('a wrong password', { from });
      const wrong = await Promise.all(Array.from({ length: 12 }, (_, index) => guess(`2001:db8:7:8::${index}:1`)));
      expect(wrong.filter(({ statusCode }) => statusCode === 429)).toHaveLength(2);
      expect((await guess('2001:db8:7:9::1')).statusCode).toBe(401);
      const mapped = await Promise.all(Array.from({ length: 12 }, (_, index) => guess(index % 2 ? '::ffff:203.0.113.7' : '203.0.113.7')));
      expect(mapped.filter(({ statusCode }) => statusCode === 429)).toHaveLength(2);
    });

    it('at one account are limited from all addresses together, and forgiven by a success', async () => {
      await dashboard.signIn(EMAIL);
      const guess = (index: number) => signIn('a wrong password', { from: `203.0.113.${index}` });
      for (let index = 0; index < 49; index++) expect((await guess(index)).statusCode).toBe(401);
      expect((await signIn(PASSWORD, { from: '203.0.113.200' })).statusCode).toBe(200);
      const later = await Promise.all(Array.from({ length: 52 }, (_, index) => guess(index)));
      expect(later.filter(({ statusCode }) => statusCode === 401)).toHaveLength(50);
    });

    it('do not lock the owner out of a place of an earlier success, however many others guess', async () => {
      await dashboard.signIn(EMAIL);
      expect((await signIn(PASSWORD, { from: '203.0.113.200' })).statusCode).toBe(200);
      const guesses = await Promise.all(
        Array.from({ length: 60 }, (_, index) => signIn('a wrong password', { from: `198.18.0.${index}` })),
      );
      expect(guesses.filter(({ statusCode }) => statusCode === 429)).toHaveLength(10);
      expect((await signIn(PASSWORD, { from: '203.0.113.201' })).statusCode).toBe(429);
      expect((await signIn(PASSWORD, { from: '203.0.113.200' })).statusCode).toBe(200);
    });

    it('from one address are limited whatever the account', async () => {
      const tries = await Promise.all(
        Array.from({ length: 24 }, (_, index) => signIn(PASSWORD, { from: '203.0.113.9', email: `nobody${index}@example.com` })),
      );
      expect(tries.map(({ statusCode }) => statusCode).sort()).toEqual([...Array<number>(20).fill(401), 429, 429, 429, 429]);
      const refused = tries.find(({ statusCode }) => statusCode === 429);
      expect(Number(refused?.headers['retry-after'])).toBeLessThanOrEqual(60);
      expect(Number(refused?.headers['retry-after'])).toBeGreaterThan(0);
    });

    it('are the same under every spelling of the path', async () => {
      await dashboard.signIn(EMAIL);
      const path = (index: number) =>
        ['/api/auth/sign-in/email', '/api/auth/sign-in/email/', '/api/auth/sign-in/%65mail?x=1'][index % 3] ?? '';
      const tries = await Promise.all(
        Array.from({ length: 24 }, (_, index) => {
          const body = { email: `nobody${index}@example.com`, password: PASSWORD };
          return dashboard.ask({ method: 'POST', path: path(index), body, from: '203.0.113.9' });
        }),
      );
      expect(tries.map(({ statusCode }) => statusCode).sort()).toEqual([...Array<number>(20).fill(401), 429, 429, 429, 429]);
      for (const index of [0, 1, 2]) {
        const body = { email: EMAIL, password: PASSWORD };
        expect((await dashboard.ask({ method: 'POST', path: path(index), body, from: `203.0.113.${20 + index}` })).statusCode).toBe(200);
      }
    });

    it('are not moved to another address by a header that no trusted proxy sent', async () => {
      const tries = await Promise.all(
        Array.from({ length: 24 }, (_, index) =>
          signIn(PASSWORD, {
            from: '203.0.113.9',
            email: `nobody${index}@example.com`,
            headers: { 'x-forwarded-for': `192.0.2.${index}`, 'x-dashboard-peer': `192.0.2.${index}` },
          }),
        ),
      );
      expect(tries.filter(({ statusCode }) => statusCode === 429)).toHaveLength(4);
    });

    it('count by the address that a trusted proxy names', async () => {
      const behind = await startDashboard({ trustedProxies: ['10.0.0.0/8'] });
      try {
        const ask = (index: number) =>
          behind.ask({
            method: 'POST',
            path: '/api/auth/sign-in/email',
            body: { email: `nobody${index}@example.com`, password: PASSWORD },
            from: '10.1.2.3',
            headers: { 'x-forwarded-for': `192.0.2.${index}` },
          });
        const tries = await Promise.all(Array.from({ length: 24 }, (_, index) => ask(index)));
        expect(tries.filter(({ statusCode }) => statusCode === 401)).toHaveLength(24);
      } finally {
        await behind.close();
      }
    });

    it('that are a day old are taken away by later ones, a few at a time, and count no more', async () => {
      const daysAgo = "(extract(epoch FROM now() - interval '25 hours') * 1000)::bigint";
      await dashboard.pool.query(
        `INSERT INTO auth_rate_limit (key, count, last_request) SELECT 'old|' || n, 1, ${daysAgo} FROM generate_series(1, 10) n`,
      );
      const left = async (): Promise<number> =>
        Number((await dashboard.pool.query("SELECT 1 FROM auth_rate_limit WHERE key LIKE 'old|%'")).rowCount);
      await takeAttempt(dashboard.pool, { key: 'new', most: 1, windowSeconds: 60 });
      expect(await left()).toBe(6);
      await dashboard.pool.query(`UPDATE auth_rate_limit SET last_request = ${daysAgo} WHERE key = 'new'`);
      expect(await takeAttempt(dashboard.pool, { key: 'new', most: 1, windowSeconds: 60 })).toBeUndefined();
      expect(await takeAttempt(dashboard.pool, { key: 'new', most: 1, windowSeconds: 60 })).toBeGreaterThan(0);
      expect(await left()).toBe(0);
    });

    it('are not spared where a success is 30 days old', async () => {
      await rememberPlace(dashboard.pool, 'a place');
      expect(await isKnownPlace(dashboard.pool, 'a place')).toBe(true);
      await dashboard.pool.query("UPDATE auth_rate_limit SET last_request = last_request - 30 * 86400000::bigint WHERE key = 'a place'");
      expect(await isKnownPlace(dashboard.pool, 'a place')).toBe(false);
    });

    it('leave no address of a person in the table that counts them', async () => {
      await signIn(PASSWORD, { from: '203.0.113.1' });
      const { rows } = await dashboard.pool.query<{ key: string }>("SELECT key FROM auth_rate_limit WHERE key LIKE 'account|%'");
      expect(rows).toHaveLength(2);
      expect(JSON.stringify(rows)).not.toContain('asha');
    });
  });

  describe('mails to one address', () => {
    const ask = (path: string, body: object, from: string) => dashboard.ask({ method: 'POST', path: `/api/auth${path}`, body, from });
    const signUp = (from: string) => ask('/sign-up/email', { email: EMAIL, password: 'the stranger knows it' }, from);
    const reset = (from: string) => ask('/request-password-reset', { email: EMAIL }, from);
    const statuses = async (count: number, send: (from: string) => Promise<{ statusCode: number }>, from: (index: number) => string) => {
      const answers = [];
      for (let index = 0; index < count; index++) answers.push((await send(from(index))).statusCode);
      return answers;
    };

    it('are counted by kind: sign-ups with an address do not hold up a new password for it', async () => {
      await dashboard.signIn(EMAIL);
      expect(await statuses(12, signUp, (index) => `198.18.1.${index % 3}`)).toContain(429);
      expect((await reset('203.0.113.50')).statusCode).toBe(200);
    });

    it('are counted by place, and a place of an earlier success is not held up by what others ask for', async () => {
      await dashboard.signIn(EMAIL);
      await signIn(PASSWORD, { from: '203.0.113.60' });
      expect(await statuses(6, reset, () => '198.18.2.1')).toEqual([200, 200, 200, 200, 200, 429]);
      expect((await reset('198.18.2.2')).statusCode).toBe(200);
      expect(await statuses(15, reset, (index) => `198.18.3.${index}`)).toEqual([...Array<number>(14).fill(200), 429]);
      expect((await reset('203.0.113.60')).statusCode).toBe(200);
    });

    it('are limited from all places together, whether there is an account or not', async () => {
      await dashboard.signIn(EMAIL);
      for (const email of [EMAIL, 'nobody@example.com']) {
        const answers = await Promise.all(
          Array.from({ length: 23 }, (_, index) => ask('/request-password-reset', { email }, `203.0.113.${index}`)),
        );
        expect(answers.filter(({ statusCode }) => statusCode === 429)).toHaveLength(3);
      }
      expect(dashboard.mails.filter(({ to }) => to === EMAIL).length).toBeLessThanOrEqual(21);
    });
  });
});
