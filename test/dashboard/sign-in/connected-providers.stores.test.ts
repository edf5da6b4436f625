import { eventually } from '../../support/eventually';
import { cookieOf, PASSWORD, tokenOf, verdict } from '../support/dashboard';
import { livingCookies as living } from '../support/operator';
import { leadsTo, useProviders } from './at-provider';
import { EMAIL } from './fake-provider';

const { dashboard, post, actions, accounts, signIn, connect, session } = useProviders();

describe('connecting a provider to an account', () => {
  const ways = async (cookie: string) => (await dashboard().ask({ path: '/api/account/ways', cookie })).json();

  it('takes the password, tells the owner by mail, and is in the audit log', async () => {
    const cookie = await dashboard().signIn(EMAIL);
    expect(verdict(await post('/account/ways', { provider: 'acme', password: 'not the password' }, cookie))).toBe('400 invalid_password');
    const connected = await connect(cookie, { claims: { email: 'asha@work.example' } });
    expect(leadsTo(connected)).toBe('303 /account?provider=connected');
    expect(await ways(cookie)).toEqual({
      hasPassword: true,
      connected: [{ id: expect.any(String), name: 'Acme', since: expect.any(String) }],
      passkeys: [],
      offered: [
        { id: 'other', name: 'Other' },
        { id: 'github', name: 'GitHub' },
      ],
    });
    expect(await actions()).toContainEqual(['account.provider_connect', { provider: 'Acme' }]);
    expect(dashboard().mails.at(-1)).toMatchObject({ to: EMAIL, subject: 'Your Tollgate account is connected to Acme' });
    expect((await session(living(await signIn()))).json().email).toBe(EMAIL);
  });

  it('is refused for a person of the provider who opens another account, and for an address that is not verified', async () => {
    await signIn();
    const cookie = await dashboard().signIn('birk@example.com');
    expect(leadsTo(await connect(cookie))).toBe('303 /account?provider=elsewhere');
    const unverified = await connect(cookie, { claims: { sub: 'person-2', email_verified: false } });
    expect(leadsTo(unverified)).toBe('303 /account?provider=unverified');
    expect((await ways(cookie)).connected).toEqual([]);
  });

  it('is undone with every other session, and never takes the last way in', async () => {
    const cookie = await dashboard().signIn(EMAIL);
    await connect(cookie);
    const other = living(await signIn());
    const { id } = (await ways(cookie)).connected[0];
    const remove = (by: string, body: unknown) => dashboard().ask({ method: 'DELETE', path: `/api/account/ways/${id}`, body, cookie: by });
    const stranger = await dashboard().signIn('birk@example.com');
    expect((await remove(stranger, { password: PASSWORD })).statusCode).toBe(404);
    expect((await remove(cookie, {})).statusCode).toBe(400);
    expect((await remove(cookie, { password: PASSWORD })).statusCode).toBe(200);
    expect([(await session(other)).statusCode, (await session(cookie)).statusCode]).toEqual([401, 200]);
    expect(await actions()).toContainEqual(['account.provider_disconnect', { provider: 'Acme' }]);
  });

  it('leaves an account without a password its only provider, until a password is set by mail', async () => {
    const cookie = living(await signIn());
    const { hasPassword, connected } = await ways(cookie);
    expect(hasPassword).toBe(false);
    const remove = (by: string, body: unknown) =>
      dashboard().ask({ method: 'DELETE', path: `/api/account/ways/${connected[0].id}`, body, cookie: by });
    expect(verdict(await remove(cookie, {}))).toBe('409 last_way');
    await post('/auth/request-password-reset', { email: EMAIL });
    await eventually(() => dashboard().mails.length > 0);
    const token = tokenOf(dashboard().mails.at(-1));
    expect((await post('/auth/reset-password', { newPassword: PASSWORD, token })).statusCode).toBe(200);
    const again = cookieOf(await post('/auth/sign-in/email', { email: EMAIL, password: PASSWORD }));
    expect((await remove(again, { password: PASSWORD })).statusCode).toBe(200);
    expect(await accounts()).toEqual([`${EMAIL} credential`]);
  });
});
