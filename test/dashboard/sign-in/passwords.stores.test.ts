import { createHash, randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { generateAdminToken } from '../../../plugins/core/access/api-key';
import { refuseCommonPassword } from '../../../services/dashboard/sign-in/common-password';
import { createPasswordHasher, type PasswordHasher } from '../../../services/dashboard/sign-in/password-hash';
import { createSignedUpProof } from '../../../services/dashboard/sign-in/signed-up-proof';
import { NO_COST, PASSWORD, startDashboard, tokenOf, verdict, useDashboard } from '../support/dashboard';
import { takeAttempt } from '../../../services/selling/customers/attempts';
import { type Mail } from '../../../services/dashboard/http/dashboard-deps';
import { makeToken } from '../support/endpoint-samples';
import { eventually } from '../../support/eventually';
import { isKnownPlace, rememberPlace } from '../../../services/selling/customers/known-place';

const dashboard = useDashboard();

describe('passwords', () => {
  const EMAIL = 'asha.rao.1990@example.com';
  /** As many as may be at work and wait. */
  const MANY = 4 + 64;

  describe('a new password', () => {
    it.each([
      'password12',
      'Password123!',
      '1234567890',
      'qwertyuiop',
      'passwordpassword',
      'aaaaaaaaaaaa',
      '!!sunshine!!',
      EMAIL.split('@')[0] ?? '',
      EMAIL,
      'asha.rao.1990@example.com2026!',
      'example.com',
      'asharao1990example',
    ])('is refused when a guessing program tries it first: %s', async (password) => {
      await expect(refuseCommonPassword(password, EMAIL)).rejects.toMatchObject({ status: 400, kind: 'password_common' });
    });

    it.each(['correct horse battery', 'eleven purple rickshaws', 'kJ8#mPq2Zx', 'मेरा लंबा पासवर्ड'])(
      'is taken when it is not: %s',
      async (password) => {
        await expect(refuseCommonPassword(password, EMAIL)).resolves.toBeUndefined();
      },
    );

    it.each([
      ['Ann@Example.com', 'ann.example.com'],
      ['Ann@Example.com', 'example_ann_2026'],
      ['Ann@Example.com', '@nn.ex@mp1e.c0m'],
      ['Ann@Example.com', 'Ａｎｎ＠Ｅｘａｍｐｌｅ．com'],
      ['ann@example.com', 'Änn-Exämple!'],
      ['al@ib.co', 'al/ib/co/2026'],
      ['josé.pérez@correo.example', 'PerezJose1990'],
      ['ann+shop@example.com', 'shop.ann.shop.ann'],
    ])('is refused when it is the address with other signs: %s, %s', async (email, password) => {
      await expect(refuseCommonPassword(password, email)).rejects.toMatchObject({ status: 400, kind: 'password_common' });
    });

    it.each([
      ['ann@example.com', 'annabelle likes maps'],
      ['ann@example.com', 'an example of mine'],
      ['al@ib.co', 'coral library'],
      ['a@b.co', '83 72 91 04 55 61'],
      ['', '83 72 91 04 55 61'],
    ])('is taken when it has more than the address: %s, %s', async (email, password) => {
      await expect(refuseCommonPassword(password, email)).resolves.toBeUndefined();
    });

    it.each([
      ['password12', 'new@example.com'],
      ['ann.example.com', 'ann@example.com'],
    ])('is checked wherever one is chosen: %s', async (weak, email) => {
      const cookie = await dashboard.signUp(email);
      await dashboard.ask({ method: 'POST', path: '/api/auth/request-password-reset', body: { email } });
      await eventually(() => dashboard.mails.some(({ to, text }) => to === email && text.includes('/reset-password?')));
      const token = tokenOf(dashboard.mails.findLast(({ to }) => to === email));
      for (const [path, body] of [
        ['/sign-up/email', { email, password: weak }],
        ['/reset-password', { newPassword: weak, token }],
        ['/change-password', { currentPassword: PASSWORD, newPassword: weak }],
      ] as const) {
        const answer = await dashboard.ask({ method: 'POST', path: `/api/auth${path}`, body, cookie });
        expect([path, answer.statusCode, answer.json().code]).toEqual([path, 400, 'password_common']);
      }
    });
  });

  describe('hashing passwords', () => {
    it('sends away whoever comes while many wait, and serves the others', async () => {
      const hasher = createPasswordHasher(NO_COST);
      const results = await Promise.allSettled(Array.from({ length: 100 }, () => hasher.hash('a long password')));
      const refused = results.filter((result) => result.status === 'rejected');
      expect(refused).toHaveLength(100 - MANY);
      for (const { reason } of refused) expect(reason).toMatchObject({ status: 503, options: { headers: { 'Retry-After': '1' } } });
      await expect(hasher.hash('a long password')).resolves.toMatch(/^\$argon2id\$/);
    });

    it('is 503 with Retry-After to those who sign in while many do, and no error in the log', async () => {
      const crowd = createPasswordHasher(NO_COST);
      let isBusy = true;
      const verify: PasswordHasher['verify'] = async (given) => {
        if (isBusy) await Promise.all(Array.from({ length: MANY + 1 }, () => crowd.hash('a long password')));
        return crowd.verify(given);
      };
      const dashboard = await startDashboard({ hasher: { ...crowd, verify } });
      try {
        await dashboard.signIn('first@example.com');
        const body = { email: 'first@example.com', password: PASSWORD };
        const signIn = () => dashboard.ask({ method: 'POST', path: '/api/auth/sign-in/email', body });
        const { statusCode, headers } = await signIn();
        expect([statusCode, headers['retry-after']]).toEqual([503, '1']);
        isBusy = false;
        expect((await signIn()).statusCode).toBe(200);
        expect(dashboard.log()).not.toContain('"level":"error"');
      } finally {
        await dashboard.close();
      }
    });

    it('costs what production’s cost, and nothing else is kept', async () => {
      const dashboard = await startDashboard({ hasCostlyPasswords: true });
      try {
        await dashboard.signUp('first@example.com');
        const { rows } = await dashboard.pool.query<{ password: string }>('SELECT password FROM auth_account');
        expect(rows).toEqual([{ password: expect.stringMatching(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/) }]);
        await expect(dashboard.pool.query("UPDATE auth_account SET password = 'plain'")).rejects.toMatchObject({ code: '23514' });
      } finally {
        await dashboard.close();
      }
    });
  });
});

describe('the time of a response', () => {
  let hashed = 0;
  /** Counts what takes the time. */
  const usual = createPasswordHasher(NO_COST);
  const hasher: PasswordHasher = {
    hash: (password) => usual.hash(password).finally(() => hashed++),
    verify: (given) => usual.verify(given).finally(() => hashed++),
  };
  const counted = useDashboard({ hasher });
  const [WITH_PASSWORD, BY_PROVIDER, NOBODY] = ['with.password@example.com', 'by.provider@example.com', 'nobody@example.com'];
  const everybody = [WITH_PASSWORD, BY_PROVIDER, NOBODY];
  beforeAll(async () => {
    await counted.signUp(WITH_PASSWORD);
    const person = "INSERT INTO auth_user (name, email, email_verified, created_at, updated_at) VALUES ('', $1, true, now(), now())";
    await counted.pool.query(person, [BY_PROVIDER]);
  });

  async function costs(work: (email: string) => Promise<unknown>): Promise<number[]> {
    const all: number[] = [];
    for (const email of everybody) {
      hashed = 0;
      await work(email);
      all.push(hashed);
    }
    return all;
  }
  const post = (path: string, body: object) => counted.ask({ method: 'POST', path: `/api/auth${path}`, body });

  it('does not tell whose address has an account, or which', async () => {
    expect(await costs((email) => post('/sign-in/email', { email, password: 'not the password' }))).toEqual([1, 1, 1]);
    expect(await costs((email) => post('/request-password-reset', { email }))).toEqual([0, 0, 0]);
    const proof = createSignedUpProof({ db: counted.pool, secret: 'of the test', url: 'https://a.example', hasher, now: () => 0 });
    expect(await costs((email) => proof.issue(email, 'not the password'))).toEqual([1, 1, 1]);
    expect(await costs((email) => post('/sign-up/email', { email, password: 'eleven purple rickshaws' }))).toEqual([1, 1, 1]);
  });

  /** Statements before the response. */
  async function statementsOf(work: () => Promise<{ readonly statusCode: number; readonly body: string }>): Promise<[number, number]> {
    const asked = jest.spyOn(Client.prototype, 'query');
    try {
      const { statusCode } = await work();
      return [statusCode, asked.mock.calls.length];
    } finally {
      asked.mockRestore();
    }
  }

  it('is that of one that was never given, for a link that was used, an invitation that has expired and a token that was revoked', async () => {
    const cookie = await counted.signUp('owner@example.com');
    const ask = (path: string, body: object) => counted.ask({ method: 'POST', path: `/api${path}`, body, cookie });
    const hash = (token: string): string => createHash('sha256').update(token).digest('hex');
    const [expired, nobodys] = [randomBytes(32), randomBytes(32)].map((bytes) => bytes.toString('base64url'));
    await counted.pool.query(
      `INSERT INTO invitation (customer_id, email, role, token_hash, expires_at)
       SELECT id, 'guest@example.com', 'reader', decode($1, 'hex'), now() - interval '1 day' FROM customer WHERE email = 'owner@example.com'`,
      [hash(expired ?? '')],
    );
    const token = await makeToken(counted, cookie);
    await ask(`/tokens/${token.id}/revoke`, {});
    const read = (secret: string) => counted.ask({ path: '/api/v1/keys', headers: { authorization: `Bearer ${secret}` } });
    const reset = (given: string) => post('/reset-password', { newPassword: 'eleven purple rickshaws', token: given });
    const isLink = ({ to, text }: Mail): boolean => to === WITH_PASSWORD && text.includes('/reset-password?');
    await post('/request-password-reset', { email: WITH_PASSWORD });
    await eventually(() => counted.mails.some(isLink));
    const used = tokenOf(counted.mails.findLast(isLink));
    expect((await reset(used)).statusCode).toBe(200);
    const pairs = [
      [() => reset(used), () => reset('a'.repeat(used.length))],
      [() => ask('/invitation', { token: expired }), () => ask('/invitation', { token: nobodys })],
      [() => read(token.secret), () => read(generateAdminToken())],
    ] as const;
    for (const [ended, unknown] of pairs) {
      // The first of all loads what every later one has.
      await unknown();
      const [seen, other] = [await statementsOf(ended), await statementsOf(unknown)];
      expect(seen).toEqual(other);
      expect(seen[0]).toBeGreaterThanOrEqual(400);
    }
  });
});

describe('attempts', () => {
  /** Of each test, which no other uses: whose account it is, and addresses from which people come. */
  let email = '';
  let network = 0;
  beforeEach(() => {
    network++;
    email = `asha.${network}@example.com`;
  });
  const at = (host: number) => `198.18.${network}.${host}`;
  const atV6 = (subnet: number, host: number | string) => `2001:db8:${network}:${subnet}::${host}`;

  const signIn = (password: string, options: { from: string; email?: string; headers?: Record<string, string> }) =>
    dashboard.ask({ method: 'POST', path: '/api/auth/sign-in/email', body: { email: options.email ?? email, password }, ...options });

  /** Statuses of so many at the same time, in order. */
  async function together(count: number, attempt: (index: number) => Promise<{ readonly statusCode: number }>): Promise<number[]> {
    const answers = await Promise.all(Array.from({ length: count }, (_, index) => attempt(index)));
    return answers.map(({ statusCode }) => statusCode).sort();
  }
  const wrongBut = (wrong: number, refused: number) => [...Array<number>(wrong).fill(401), ...Array<number>(refused).fill(429)];
  const guess = (from: string) => signIn('a wrong password', { from });

  describe('attempts to sign in', () => {
    it('at one account are few from one address, right password or not, while others still get in', async () => {
      await dashboard.signIn(email);
      expect(await together(12, () => guess(at(1)))).toEqual(wrongBut(10, 2));
      const late = await signIn(PASSWORD, { from: at(1) });
      expect(verdict(late)).toBe('429 too_many_attempts');
      expect(Number(late.headers['retry-after'])).toBeGreaterThan(800);
      expect(Number(late.headers['retry-after'])).toBeLessThanOrEqual(900);
      expect((await signIn(PASSWORD, { from: at(2) })).statusCode).toBe(200);
    });

    it('come from one place from wherever in a /64 of IPv6, which is one subscriber’s', async () => {
      await dashboard.signIn(email);
      expect(await together(12, (index) => guess(atV6(8, `${index}:1`)))).toEqual(wrongBut(10, 2));
      expect((await guess(atV6(9, 1))).statusCode).toBe(401);
      expect(await together(12, (index) => guess(index % 2 ? `::ffff:${at(7)}` : at(7)))).toEqual(wrongBut(10, 2));
    });

    it('at one account are limited from all addresses together, and forgiven by a success, whose place the owner is not locked out of', async () => {
      await dashboard.signIn(email);
      expect(await together(49, (index) => guess(at(index)))).toEqual(wrongBut(49, 0));
      expect((await signIn(PASSWORD, { from: at(200) })).statusCode).toBe(200);
      expect(await together(60, (index) => guess(at(index)))).toEqual(wrongBut(50, 10));
      expect((await signIn(PASSWORD, { from: at(201) })).statusCode).toBe(429);
      expect((await signIn(PASSWORD, { from: at(200) })).statusCode).toBe(200);
    });

    it('from one address are limited whatever the account, and under every spelling of the path', async () => {
      await dashboard.signIn(email);
      const spellings = ['/api/auth/sign-in/email', '/api/auth/sign-in/email/', '/api/auth/sign-in/%65mail?x=1'];
      const spelled = (index: number, address: string, from: string) => {
        const body = { email: address, password: PASSWORD };
        return dashboard.ask({ method: 'POST', path: spellings[index % 3] ?? '', body, from });
      };
      expect(await together(24, (index) => spelled(index, `nobody${index}@example.com`, at(9)))).toEqual(wrongBut(20, 4));
      const waitSeconds = Number((await spelled(0, 'nobody@example.com', at(9))).headers['retry-after']);
      expect([waitSeconds > 0, waitSeconds <= 60]).toEqual([true, true]);
      for (const index of [0, 1, 2]) expect((await spelled(index, email, at(20 + index))).statusCode).toBe(200);
    });

    it('are not moved to another address by a header that no trusted proxy sent', async () => {
      const claimed = (index: number) => {
        const headers = { 'x-forwarded-for': `192.0.2.${index}`, 'x-dashboard-peer': `192.0.2.${index}` };
        return signIn(PASSWORD, { from: at(9), email: `nobody${index}@example.com`, headers });
      };
      expect(await together(24, claimed)).toEqual(wrongBut(20, 4));
    });

    const behind = useDashboard({ trustedProxies: ['10.0.0.0/8'] });
    it('count by the address that a trusted proxy names', async () => {
      const named = (index: number) => {
        const body = { email: `nobody${index}@example.com`, password: PASSWORD };
        const headers = { 'x-forwarded-for': `192.0.2.${index}` };
        return behind.ask({ method: 'POST', path: '/api/auth/sign-in/email', body, from: '10.1.2.3', headers });
      };
      expect(await together(24, named)).toEqual(wrongBut(24, 0));
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
      const counted = async () =>
        (await dashboard.pool.query<{ key: string }>("SELECT key FROM auth_rate_limit WHERE key LIKE 'account|%'")).rows;
      const before = await counted();
      await signIn(PASSWORD, { from: at(1) });
      const after = await counted();
      expect(after).toHaveLength(before.length + 2);
      expect(JSON.stringify(after)).not.toContain('asha');
    });
  });

  describe('mails to one address', () => {
    const ask = (path: string, body: object, from: string) => dashboard.ask({ method: 'POST', path: `/api/auth${path}`, body, from });
    const signUp = (from: string) => ask('/sign-up/email', { email, password: 'the stranger knows it' }, from);
    const reset = (from: string) => ask('/request-password-reset', { email }, from);
    const statuses = async (count: number, send: (from: string) => Promise<{ statusCode: number }>, from: (index: number) => string) => {
      const answers = [];
      for (let index = 0; index < count; index++) answers.push((await send(from(index))).statusCode);
      return answers;
    };

    it('are counted by kind: sign-ups with an address do not hold up a new password for it', async () => {
      await dashboard.signIn(email);
      expect(await statuses(12, signUp, (index) => at(100 + (index % 3)))).toContain(429);
      expect((await reset(at(50))).statusCode).toBe(200);
    });

    it('are counted by place, and a place of an earlier success is not held up by what others ask for', async () => {
      await dashboard.signIn(email);
      await signIn(PASSWORD, { from: at(60) });
      expect(await statuses(6, reset, () => at(101))).toEqual([200, 200, 200, 200, 200, 429]);
      expect((await reset(at(102))).statusCode).toBe(200);
      expect(await statuses(15, reset, (index) => at(110 + index))).toEqual([...Array<number>(14).fill(200), 429]);
      expect((await reset(at(60))).statusCode).toBe(200);
    });

    it('are counted by mailbox, however its address is spelled, so that nobody gets account after account of one', async () => {
      const spellings = (name: string, host: string) => [`${name}+1@${host}`, `${name.toUpperCase()}+2@${host}`, `${name}+a+b@${host}`];
      const mailbox = `asha.${network}`;
      const all = [
        [...spellings(mailbox, 'example.com'), `${mailbox}@EXAMPLE.com`],
        [...spellings(mailbox, 'gmail.com'), `asha${network}@googlemail.com`, `a.s.h.a.${network}@gmail.com`],
      ];
      for (const [row, addresses] of all.entries()) {
        const signUpAs = (from: string, email = addresses[Number(from.split('.').at(-1)) % addresses.length]) =>
          ask('/sign-up/email', { email, password: 'eleven purple rickshaws' }, from);
        expect(await statuses(12, signUpAs, (index) => at(100 * row + index))).toEqual([...Array<number>(10).fill(200), 429, 429]);
      }
    });

    it.each(['asha@example.com.', 'аsha@example.com', 'asha@exаmple.com', 'asha＠example.com', 'asha@example。com', '"asha"@example.com'])(
      'go to no address that is another spelling with letters that look alike: %s',
      async (address) => {
        expect(verdict(await ask('/sign-up/email', { email: address, password: 'eleven purple rickshaws' }, at(1)))).toBe(
          '400 invalid_request',
        );
      },
    );

    it('are limited from all places together, whether there is an account or not', async () => {
      await dashboard.signIn(email);
      for (const [row, address] of [email, 'nobody@example.com'].entries()) {
        const answers = await together(23, (index) => ask('/request-password-reset', { email: address }, at(100 * row + index)));
        expect(answers.slice(-4)).toEqual([200, 429, 429, 429]);
      }
      expect(dashboard.mails.filter(({ to }) => to === email).length).toBeLessThanOrEqual(21);
    });
  });
});
