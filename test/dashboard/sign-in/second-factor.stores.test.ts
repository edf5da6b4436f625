import { type LightMyRequestResponse } from 'fastify';
import { endpointsFor } from '../../../services/dashboard/contract/endpoints';
import { eventually } from '../../support/eventually';
import { type Brand, PLAIN_BRAND } from '../../../services/dashboard/brand/brand';
import { cookieOf, PASSWORD, startDashboard, tokenOf, useDashboard, verdict } from '../support/dashboard';
import { askEndpoint, makeBelongings, digestEverything, samples } from '../support/endpoint-samples';
import { livingCookies as living } from '../support/operator';
import { secretOf, totpOf, unusedTotpOf } from '../support/totp';

const endpoints = endpointsFor('members');

const dashboard = useDashboard({}, true);

const EMAIL = 'asha@example.com';
/** Of no window that is near. */
const DISTANT_MS = 1_000_000_000_000;

const post = (path: string, body: unknown, rest: { cookie?: string; from?: string } = {}) =>
  dashboard.ask({ method: 'POST', path: `/api/auth${path}`, body, ...rest });
const signIn = (from = '192.0.2.1') => post('/sign-in/email', { email: EMAIL, password: PASSWORD }, { from });
const session = async (cookie: string) => dashboard.ask({ path: '/api/session', cookie });

interface SetUp {
  readonly cookie: string;
  readonly secret: string;
  /** With which it was turned on. */
  readonly code: string;
  readonly backupCodes: readonly string[];
}

async function turnOn(cookie: string): Promise<SetUp> {
  const begun = await post('/two-factor/enable', { password: PASSWORD }, { cookie });
  expect([begun.statusCode, begun.json().backupCodes]).toEqual([200, expect.any(Array)]);
  const secret = secretOf(begun.json().totpURI);
  const code = await unusedTotpOf(secret);
  const confirmed = await post('/two-factor/verify-totp', { code }, { cookie });
  expect(confirmed.statusCode).toBe(200);
  return { cookie: living(confirmed), secret, code, backupCodes: begun.json().backupCodes };
}
const setUp = async (): Promise<SetUp> => turnOn(await dashboard.signIn(EMAIL));
const actions = async () => {
  const { rows } = await dashboard.pool.query<{ action: string; actor: string; from_address: string }>(
    "SELECT action, actor, from_address FROM audit_log WHERE action ~ '^account[.](second|recovery)' ORDER BY id",
  );
  return rows.map(({ action, actor }) => `${actor} ${action}`);
};

describe('turning the second factor on', () => {
  it('and adding a passkey name the shop as its brand says now, without a restart', async () => {
    let name = 'Acme';
    const brand: Brand = {
      ...PLAIN_BRAND,
      get name() {
        return name;
      },
    };
    const shop = await startDashboard({ brand, url: 'https://dashboard.example.com' });
    const cookie = await shop.signIn(EMAIL);
    const names = async () => {
      const ask = (path: string) => shop.ask({ method: 'POST', path, body: { password: PASSWORD }, cookie });
      const begun = await ask('/api/auth/two-factor/enable');
      return [new URL(begun.json().totpURI).searchParams.get('issuer'), (await ask('/api/account/passkeys/options')).json().rp.name];
    };
    expect(await names()).toEqual(['Acme', 'Acme']);
    name = 'Acme Weather';
    expect(await names()).toEqual(['Acme Weather', 'Acme Weather']);
    await shop.close();
  });

  it('asks for the password, and counts only once a code was given', async () => {
    const cookie = await dashboard.signIn(EMAIL);
    expect((await post('/two-factor/enable', { password: 'not the password' }, { cookie })).statusCode).toBe(400);
    const begun = await post('/two-factor/enable', { password: PASSWORD }, { cookie });
    expect(begun.json().totpURI).toMatch(/^otpauth:\/\/totp\/Tollgate:asha%40example\.com\?.*issuer=Tollgate/);
    expect((await signIn()).cookies.map(({ name }) => name)).toContain('tollgate.session_token');
    expect(verdict(await post('/two-factor/verify-totp', { code: totpOf(secretOf(begun.json().totpURI), DISTANT_MS) }, { cookie }))).toBe(
      '401 invalid_code',
    );
    expect((await session(cookie)).json().hasSecondFactor).toBe(false);
    expect(await actions()).toEqual([]);
  });

  it('ends every other session, and is in the audit log', async () => {
    await dashboard.signIn(EMAIL);
    const other = cookieOf(await signIn());
    const { cookie } = await turnOn(cookieOf(await signIn('192.0.2.2')));
    expect((await session(cookie)).json()).toMatchObject({ email: EMAIL, hasSecondFactor: true });
    expect((await session(other)).statusCode).toBe(401);
    expect(await actions()).toEqual([`dashboard:${EMAIL} account.second_factor_on`]);
  });

  it('is refused a second time: whoever has the session only cannot put another authenticator in its place', async () => {
    const { cookie, secret } = await setUp();
    expect(verdict(await post('/two-factor/enable', { password: PASSWORD }, { cookie }))).toBe('400 totp_already_enabled');
    expect(verdict(await post('/two-factor/verify-totp', { code: totpOf(secret) }, { cookie }))).toBe('409 second_factor_on');
  });

  it('stores neither the secret nor a recovery code in a form that can be read', async () => {
    const { secret, backupCodes } = await setUp();
    const { rows } = await dashboard.pool.query('SELECT * FROM auth_two_factor');
    const stored = JSON.stringify(rows);
    expect(rows).toHaveLength(1);
    for (const each of [secret, Buffer.from(secret).toString('hex'), ...backupCodes]) expect(stored).not.toContain(each);
    for (const each of [secret, ...backupCodes]) expect(dashboard.log()).not.toContain(each);
  });
});

describe('signing in with a second factor', () => {
  it('needs both, in that order', async () => {
    const { secret } = await setUp();
    const half = await signIn();
    expect([half.statusCode, half.json()]).toEqual([200, { twoFactorRedirect: true, twoFactorMethods: ['totp'] }]);
    expect((await session(living(half))).statusCode).toBe(401);
    const code = await unusedTotpOf(secret);
    expect((await post('/two-factor/verify-totp', { code })).statusCode).toBe(401);
    const whole = await post('/two-factor/verify-totp', { code }, { cookie: living(half) });
    expect((await session(living(whole))).json().email).toBe(EMAIL);
    const again = await post('/two-factor/verify-totp', { code }, { cookie: living(half) });
    expect(again.statusCode).toBe(401);
  });

  it('takes each code once, also of two at the same moment, and none from before the last', async () => {
    const { secret, code: first } = await setUp();
    const answer = async (code: string, from: string) => {
      const { statusCode, json } = await post('/two-factor/verify-totp', { code }, { cookie: living(await signIn(from)) });
      return statusCode === 200 ? 200 : json().code;
    };
    expect(await answer(first, '192.0.2.2')).toBe('code_used');
    const code = await unusedTotpOf(secret);
    const both = await Promise.all([answer(code, '192.0.2.3'), answer(code, '192.0.2.4')]);
    expect(both.sort()).toEqual([200, 'code_used']);
    expect(await answer(first, '192.0.2.5')).toBe('code_used');
  });

  it('cannot be skipped: half a session reaches no endpoint and no part of the account', async () => {
    const own = await makeBelongings(dashboard, EMAIL);
    await turnOn(own.cookie);
    const cookie = living(await signIn());
    const before = await digestEverything(dashboard.pool);
    for (const endpoint of endpoints) {
      const { statusCode } = await askEndpoint(dashboard, endpoint, { sample: samples[endpoint.name]?.(own), cookie });
      expect([endpoint.name, statusCode]).toEqual([endpoint.name, 401]);
    }
    const needSession = ['/two-factor/enable', '/two-factor/disable', '/two-factor/generate-backup-codes', '/list-sessions'];
    for (const path of [...needSession, '/change-password', '/revoke-sessions', '/revoke-other-sessions', '/revoke-session']) {
      const { method } = endpointsFor('everybody').find((route) => route.path === `/auth${path}`) ?? { method: 'POST' as const };
      const body = { password: PASSWORD, currentPassword: PASSWORD, newPassword: 'another long password', token: 'x' };
      const answer = await dashboard.ask({ method, path: `/api/auth${path}`, cookie, ...(method === 'POST' && { body }) });
      expect([path, answer.statusCode]).toEqual([path, 401]);
    }
    expect((await dashboard.ask({ path: '/api/auth/get-session', cookie })).body).toBe('null');
    expect(await digestEverything(dashboard.pool)).toEqual(before);
  });

  it('is not asked for less by a new password from the mail', async () => {
    await setUp();
    await post('/request-password-reset', { email: EMAIL });
    const { rows } = await dashboard.pool.query('SELECT 1 FROM auth_verification');
    expect(rows.length).toBeGreaterThan(0);
    const mail = () => dashboard.mails.find(({ subject }) => subject.startsWith('Reset'));
    await eventually(() => mail() !== undefined);
    const reset = await post('/reset-password', { token: tokenOf(mail()), newPassword: 'a wholly new password' });
    expect([reset.statusCode, living(reset)]).toEqual([200, '']);
    const half = await post('/sign-in/email', { email: EMAIL, password: 'a wholly new password' });
    expect(half.json().twoFactorRedirect).toBe(true);
    expect((await session(living(half))).statusCode).toBe(401);
  });

  it('trusts no browser, whatever it asks for', async () => {
    const { secret } = await setUp();
    const body = { code: await unusedTotpOf(secret), trustDevice: true };
    const whole = await post('/two-factor/verify-totp', body, { cookie: living(await signIn()) });
    expect(whole.cookies.map(({ name }) => name)).not.toContain('tollgate.trust_device');
    const next = await post('/sign-in/email', { email: EMAIL, password: PASSWORD }, { cookie: living(whole) });
    expect(next.json().twoFactorRedirect).toBe(true);
  });

  it('takes each recovery code once, and says so in the audit log', async () => {
    const { backupCodes } = await setUp();
    const [code = '', other = ''] = backupCodes;
    const recovered = await post('/two-factor/verify-backup-code', { code }, { cookie: living(await signIn()) });
    expect((await session(living(recovered))).json().email).toBe(EMAIL);
    expect(verdict(await post('/two-factor/verify-backup-code', { code }, { cookie: living(await signIn()) }))).toBe(
      '401 invalid_backup_code',
    );
    expect((await post('/two-factor/verify-backup-code', { code: other }, { cookie: living(recovered) })).statusCode).toBe(409);
    expect(await actions()).toEqual([`dashboard:${EMAIL} account.second_factor_on`, `dashboard:${EMAIL} account.recovery_code_used`]);
  });
});

describe('guessing at codes', () => {
  it('ends a sign-in after five, and after ten locks the second step for a quarter of an hour, from wherever', async () => {
    const { secret } = await setUp();
    const statuses: number[] = [];
    for (let attempt = 0; attempt < 3; attempt++) {
      const cookie = living(await signIn(`192.0.2.${10 + attempt}`));
      for (let guess = 0; guess < 6; guess++) {
        const code = totpOf(secret, DISTANT_MS + guess * 60_000);
        statuses.push((await post('/two-factor/verify-totp', { code }, { cookie, from: `192.0.2.${20 + attempt}` })).statusCode);
      }
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
    const right = await post(
      '/two-factor/verify-totp',
      { code: await unusedTotpOf(secret) },
      { cookie: living(await signIn('192.0.2.30')) },
    );
    expect([right.statusCode, right.json().code, right.headers['retry-after']]).toEqual([429, 'too_many_attempts', '900']);
  });

  it('is not forgiven by the password: half a sign-in counts as an attempt', async () => {
    await setUp();
    const answers: LightMyRequestResponse[] = [];
    for (let attempt = 0; attempt < 12; attempt++) answers.push(await signIn());
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([...Array<number>(10).fill(200), 429, 429]);
  });
});

describe('turning the second factor off', () => {
  it('asks for the password, and is in the audit log', async () => {
    const { cookie } = await setUp();
    expect((await post('/two-factor/disable', { password: 'not the password' }, { cookie })).statusCode).toBe(400);
    const off = await post('/two-factor/disable', { password: PASSWORD }, { cookie });
    expect(off.statusCode).toBe(200);
    expect((await session(living(off))).json().hasSecondFactor).toBe(false);
    expect((await session(living(await signIn()))).statusCode).toBe(200);
    expect(await actions()).toEqual([`dashboard:${EMAIL} account.second_factor_on`, `dashboard:${EMAIL} account.second_factor_off`]);
    expect((await dashboard.pool.query('SELECT 1 FROM auth_two_factor')).rows).toEqual([]);
  });

  it('is not needed for new recovery codes, which end the old ones', async () => {
    const { cookie, backupCodes } = await setUp();
    const fresh = await post('/two-factor/generate-backup-codes', { password: PASSWORD }, { cookie });
    expect(fresh.json().backupCodes).toHaveLength(10);
    const old = await post('/two-factor/verify-backup-code', { code: backupCodes[0] }, { cookie: living(await signIn()) });
    expect(old.statusCode).toBe(401);
    expect(await actions()).toContain(`dashboard:${EMAIL} account.recovery_codes`);
  });
});
