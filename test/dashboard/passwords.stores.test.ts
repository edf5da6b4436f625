import { refuseCommonPassword } from '../../services/dashboard/api/accounts/common-password';
import { createPasswordHasher } from '../../services/dashboard/api/accounts/password-hash';
import { startDashboard } from './support/dashboard';

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
    await expect(refuseCommonPassword(password, EMAIL)).rejects.toMatchObject({ status: 400, options: { code: 'password_common' } });
  });

  it.each(['correct horse battery', 'eleven purple rickshaws', 'a long password', 'kJ8#mPq2Zx', 'मेरा लंबा पासवर्ड', 'the stranger knows it'])(
    'is taken when it is not: %s',
    async (password) => {
      await expect(refuseCommonPassword(password, EMAIL)).resolves.toBeUndefined();
    },
  );

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
