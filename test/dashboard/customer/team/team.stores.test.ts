import { randomUUID } from 'node:crypto';
import { type LightMyRequestResponse } from 'fastify';
import { type Role, ROLES, roleMay } from '../../../../services/selling/members/member-roles';
import { soleOwnerOf } from '../../../../services/selling/members/sole-owner-of';
import { createCustomer } from '../../../../services/selling/customers/create-customer';
import { setCustomerLimits } from '../../../../services/selling/customers/customer-limits';
import { endpointsFor } from '../../../../services/dashboard/contract/endpoints';
import { eventually } from '../../../support/eventually';
import { cookieOf, linkOf, tokenOf, useDashboard, verdict } from '../../support/dashboard';
import {
  askEndpoint,
  type Belongings,
  fillPath,
  isPrinted,
  makeBelongings,
  makeToken,
  digestEverything,
  keepsEverything,
  samples,
} from '../../support/endpoint-samples';
import { rowsAbout } from '../../support/own-rows';

const endpoints = endpointsFor('members');

const dashboard = useDashboard();
// Limits of mail by organisation and address have a test of their own.
beforeEach(async () => void (await dashboard.pool.query("DELETE FROM auth_rate_limit WHERE key ~ 'letter|invitation|write'")));

const post = (path: string, cookie: string, body: object = {}): Promise<LightMyRequestResponse> =>
  dashboard.ask({ method: 'POST', path: `/api${path}`, cookie, body });
const setRole = (cookie: string, userId: string, role: Role): Promise<LightMyRequestResponse> =>
  dashboard.ask({ method: 'PUT', path: `/api/team/members/${userId}/role`, cookie, body: { role } });
const remove = (cookie: string, userId: string): Promise<LightMyRequestResponse> =>
  dashboard.ask({ method: 'DELETE', path: `/api/team/members/${userId}`, cookie });
const anAddress = (): string => `${randomUUID().slice(0, 8)}@example.com`;
const session = async (cookie: string) => (await dashboard.ask({ path: '/api/session', cookie })).json();
const mailsTo = (email: string) => dashboard.mails.filter(({ to }) => to === email);

interface Person {
  readonly email: string;
  readonly userId: string;
  readonly cookie: string;
}

async function signUp(email = anAddress()): Promise<Person> {
  const cookie = await dashboard.signIn(email);
  const { rows } = await dashboard.pool.query<{ id: string }>('SELECT id FROM auth_user WHERE email = $1', [email]);
  return { email, cookie, userId: rows[0]?.id ?? '' };
}

/** Invites an address, whose mail's token this is. */
async function invite(cookie: string, email: string, role = 'developer'): Promise<string> {
  const answer = await post('/team/invitations', cookie, { email, role });
  expect([answer.statusCode, answer.json().isMailed]).toEqual([200, true]);
  return tokenOf(mailsTo(email).at(-1));
}

/** A new person who has joined by a mail, and works in that organisation. */
async function join(cookie: string, role: Role): Promise<Person> {
  const person = await signUp();
  const token = await invite(cookie, person.email, role === 'owner' ? 'admin' : role);
  const accepted = await post('/invitation/accept', person.cookie, { token });
  expect(accepted.statusCode).toBe(200);
  if (role === 'owner') expect((await setRole(cookie, person.userId, 'owner')).statusCode).toBe(200);
  return { ...person, cookie: `${person.cookie}; ${cookieOf(accepted)}` };
}

describe('roles', () => {
  let own: Belongings;
  const people = new Map<Role, Person>();
  beforeAll(async () => {
    own = await makeBelongings(dashboard, 'organisation@example.com');
    await setCustomerLimits(dashboard.pool, { customer: 'organisation@example.com', limits: { writesPerMinute: 100_000 }, actor: 'test' });
    for (const role of ROLES) people.set(role, await join(own.cookie, role));
  });
  const of = (role: Role): Person => people.get(role) ?? { email: '', userId: '', cookie: '' };

  it('forbid what needs more, and nothing is done', async () => {
    await keepsEverything(dashboard.pool, async () => {
      for (const { name, method, path, needs } of endpoints)
        for (const role of ROLES.filter((each) => !roleMay(each, needs))) {
          const answer = await askEndpoint(dashboard, { method, path }, { sample: samples[name]?.(own), cookie: of(role).cookie });
          expect([name, verdict(answer), answer.json().role]).toEqual([name, '403 role_forbids', role]);
        }
    });
  });

  it('let everybody read, but for what needs more', async () => {
    for (const { name, path, needs } of endpoints.filter((each) => each.method === 'GET' && !isPrinted(each))) {
      // The request log takes moments of the last week, the others days.
      const period = path.startsWith('/requests') ? {} : { query: 'from=2026-01-01&to=2026-01-31' };
      for (const role of ROLES.filter((each) => roleMay(each, needs))) {
        const answer = await dashboard.ask({ path: fillPath(path, samples[name]?.(own) ?? period), cookie: of(role).cookie });
        // A month without a statement is unknown to everybody alike.
        expect([path, role, answer.statusCode]).toEqual([path, role, path === '/statement.csv' ? 404 : 200]);
      }
    }
  });

  it('keep only invoices from some of those who may read', () => {
    const kept = endpoints.filter(({ method, needs }) => method === 'GET' && ROLES.some((role) => !roleMay(role, needs)));
    expect(kept.map(({ path }) => path)).toEqual([
      '/billing',
      '/checkouts/:id',
      '/invoices',
      '/invoices.csv',
      '/invoices/:id',
      '/invoices/:id/pdf',
      '/payments',
    ]);
  });

  it('let owner, admin and developer make a key, and billing change a plan', async () => {
    for (const role of ['owner', 'admin', 'developer'] as const) {
      const answer = await post('/keys', of(role).cookie, { submission: randomUUID(), mode: 'test', products: ['api-ip'] });
      expect([role, answer.statusCode]).toEqual([role, 200]);
    }
    expect((await post('/subscriptions', of('billing').cookie, { product: 'api-pincode', plan: null })).statusCode).toBe(200);
  });

  it('keep a developer from subscribing by way of a key, or of trying out', async () => {
    const { cookie } = of('developer');
    const before = await digestEverything(dashboard.pool);
    const made = await post('/keys', cookie, { submission: randomUUID(), mode: 'test', products: ['api-ip', 'api-app'] });
    const body = { version: own.key.version, products: ['api-ip', 'api-app'], subscribes: true };
    const changed = await dashboard.ask({ method: 'PATCH', path: `/api/keys/${own.key.id}`, cookie, body });
    const tried = await post('/try', cookie, { product: 'api-app', method: 'GET', path: '/app' });
    for (const answer of [made, changed, tried]) expect(verdict(answer)).toBe('403 role_forbids');
    expect(await digestEverything(dashboard.pool)).toEqual(before);
  });

  it('keep owners out of an admin’s reach', async () => {
    const { cookie, userId } = of('admin');
    const owner = of('owner').userId;
    const before = await digestEverything(dashboard.pool);
    for (const answer of [await setRole(cookie, owner, 'reader'), await setRole(cookie, userId, 'owner'), await remove(cookie, owner)])
      expect(verdict(answer)).toBe('409 owner_needed');
    expect(await digestEverything(dashboard.pool)).toEqual(before);
  });

  it('count from the next request on, and the audit log names who gave them', async () => {
    const { userId, email, cookie } = await join(own.cookie, 'reader');
    const wish = { submission: randomUUID(), mode: 'test', products: ['api-ip'] };
    expect(verdict(await post('/keys', cookie, wish))).toBe('403 role_forbids');
    expect((await setRole(of('admin').cookie, userId, 'developer')).statusCode).toBe(200);
    expect((await post('/keys', cookie, wish)).statusCode).toBe(200);
    await eventually(() => mailsTo(email).some(({ subject }) => subject.includes('role')));
    const { entries } = (await dashboard.ask({ path: '/api/audit?kind=member', cookie })).json();
    expect(entries[0]).toMatchObject({
      action: 'member.role',
      actor: of('admin').email,
      details: { member: email, before: 'reader', after: 'developer' },
    });
  });
});

describe('an invitation', () => {
  it('leads somebody who signs up into the organisation, beside the own one', async () => {
    const owner = await signUp();
    const email = anAddress();
    const token = await invite(owner.cookie, email, 'billing');
    expect(linkOf(mailsTo(email)[0])).toBe(`/invitation?token=${token}`);
    const offer = await dashboard.ask({ method: 'POST', path: '/api/invitation', body: { token } });
    expect(offer.json()).toEqual({ organisation: owner.email, email, role: 'billing', invitedBy: owner.email, signedInAs: null });
    dashboard.mails.splice(0);
    const { cookie } = await signUp(email);
    const accepted = await post('/invitation/accept', cookie, { token });
    expect(accepted.json()).toMatchObject({ organisation: owner.email, role: 'billing' });
    const there = await session(`${cookie}; ${cookieOf(accepted)}`);
    expect(there).toMatchObject({ email, organisation: owner.email, role: 'billing' });
    expect(there.organisations.map(({ organisation }: { organisation: string }) => organisation)).toEqual([email, owner.email]);
    expect(await session(cookie)).toMatchObject({ organisation: email, role: 'owner' });
  });

  it('opens nothing for another address, twice, once revoked, once renewed, or after 7 days', async () => {
    const owner = await signUp();
    const invited = await signUp();
    const other = await signUp();
    const accept = (cookie: string, token: string) => post('/invitation/accept', cookie, { token });
    const first = await invite(owner.cookie, invited.email);
    expect(verdict(await accept(other.cookie, first))).toBe('403 invitation_for_another');
    const { id } = (await dashboard.ask({ path: '/api/team', cookie: owner.cookie })).json().invitations[0];
    expect((await post(`/team/invitations/${id}/resend`, owner.cookie)).statusCode).toBe(200);
    const second = tokenOf(mailsTo(invited.email).at(-1));
    expect(verdict(await accept(invited.cookie, first))).toBe('404 invitation_unknown');
    await dashboard.pool.query('UPDATE invitation SET expires_at = now() WHERE id = $1', [id]);
    expect(verdict(await accept(invited.cookie, second))).toBe('404 invitation_unknown');
    await dashboard.pool.query("UPDATE invitation SET expires_at = now() + interval '7 days' WHERE id = $1", [id]);
    expect((await accept(invited.cookie, second)).statusCode).toBe(200);
    expect(verdict(await accept(invited.cookie, second))).toBe('404 invitation_unknown');
    const third = await invite(owner.cookie, other.email);
    const open = (await dashboard.ask({ path: '/api/team', cookie: owner.cookie })).json().invitations[0];
    expect((await post(`/team/invitations/${open.id}/revoke`, owner.cookie)).statusCode).toBe(204);
    expect(verdict(await accept(other.cookie, third))).toBe('404 invitation_unknown');
  });

  it('is one for each address, for members only once, and for nobody without a verified account', async () => {
    const owner = await signUp();
    const email = anAddress();
    const token = await invite(owner.cookie, email);
    expect(verdict(await post('/team/invitations', owner.cookie, { email: email.toUpperCase(), role: 'admin' }))).toBe(
      '409 invitation_exists',
    );
    expect(verdict(await post('/team/invitations', owner.cookie, { email: owner.email, role: 'admin' }))).toBe('409 member_exists');
    expect((await post('/team/invitations', owner.cookie, { email, role: 'owner' })).statusCode).toBe(400);
    expect(verdict(await dashboard.ask({ method: 'POST', path: '/api/invitation/accept', body: { token } }))).toBe('401 not_signed_in');
  });

  it('is in no log and in the database as its hash alone', async () => {
    const owner = await signUp();
    const token = await invite(owner.cookie, anAddress());
    await dashboard.ask({ method: 'POST', path: '/api/invitation', body: { token } });
    await dashboard.ask({ path: `/invitation?token=${token}` });
    expect(dashboard.log()).not.toContain(token);
    expect(await rowsAbout(dashboard.pool, [token])).toEqual({});
  });

  it('is limited by organisation, and by address whoever invites', async () => {
    const owner = await signUp();
    for (let count = 0; count < 20; count++) await invite(owner.cookie, anAddress());
    expect(verdict(await post('/team/invitations', owner.cookie, { email: anAddress(), role: 'reader' }))).toBe(
      '409 invitation_limit_reached',
    );
    const { id } = (await dashboard.ask({ path: '/api/team', cookie: owner.cookie })).json().invitations[0];
    for (let count = 0; count < 4; count++) expect((await post(`/team/invitations/${id}/resend`, owner.cookie)).statusCode).toBe(200);
    expect(verdict(await post(`/team/invitations/${id}/resend`, owner.cookie))).toBe('429 too_many_attempts');
  });
});

describe('an organisation', () => {
  it('keeps an owner, also when two leave at once', async () => {
    const owner = await signUp();
    expect(verdict(await post('/team/leave', owner.cookie))).toBe('409 last_owner');
    expect(verdict(await setRole(owner.cookie, owner.userId, 'admin'))).toBe('409 last_owner');
    const second = await join(owner.cookie, 'owner');
    const answers = await Promise.all([post('/team/leave', owner.cookie), post('/team/leave', second.cookie)]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([204, 409]);
  });

  it('keeps an owner in the database, whatever asks', async () => {
    const owner = await signUp();
    await join(owner.cookie, 'reader');
    const refused = { constraint: 'member_has_owner' };
    await expect(dashboard.pool.query("UPDATE member SET role = 'admin' WHERE user_id = $1", [owner.userId])).rejects.toMatchObject(
      refused,
    );
    await expect(dashboard.pool.query('DELETE FROM auth_user WHERE id = $1', [owner.userId])).rejects.toMatchObject(refused);
    expect(await soleOwnerOf(dashboard.db, owner)).toEqual([
      { customerId: expect.any(String), organisation: owner.email, otherMembers: 1 },
    ]);
  });

  it('is handed over, and the one before stays as an admin', async () => {
    const owner = await signUp();
    const heir = await join(owner.cookie, 'reader');
    expect((await post('/team/transfer', owner.cookie, { userId: heir.userId })).json()).toMatchObject({ role: 'owner' });
    expect((await session(owner.cookie)).role).toBe('admin');
    expect((await remove(heir.cookie, owner.userId)).statusCode).toBe(204);
    // The address by which it goes is no way back in.
    expect(verdict(await dashboard.ask({ path: '/api/keys', cookie: owner.cookie }))).toBe('403 organisation_missing');
    expect((await session(heir.cookie)).organisation).toBe(owner.email);
    const { rows } = await dashboard.pool.query('SELECT customer_mail_address(id) AS to FROM customer WHERE email = $1', [owner.email]);
    expect(rows).toEqual([{ to: heir.email }]);
  });

  it('is closed to a member who was removed, from the next request on', async () => {
    const owner = await signUp();
    const gone = await join(owner.cookie, 'admin');
    const { customerId } = await session(gone.cookie);
    const token = await makeToken(dashboard, gone.cookie);
    expect((await remove(owner.cookie, gone.userId)).statusCode).toBe(204);
    expect(await session(gone.cookie)).toMatchObject({ organisation: gone.email, role: 'owner' });
    const shown = await dashboard.ask({ path: '/api/keys', cookie: gone.cookie, headers: { 'x-organisation': customerId } });
    expect(verdict(shown)).toBe('409 organisation_changed');
    await eventually(() => mailsTo(gone.email).some(({ subject }) => subject.includes('no longer')));
    const { tokens } = (await dashboard.ask({ path: '/api/tokens', cookie: owner.cookie })).json();
    expect(tokens[0]).toMatchObject({ id: token.id, madeBy: gone.email, isMakerHere: false });
    expect((await post(`/tokens/${token.id}/revoke`, owner.cookie)).json().state).toBe('revoked');
  });

  it('is chosen by the server: no id of a page, and no cookie of another account, opens one', async () => {
    const owner = await signUp();
    const member = await join(owner.cookie, 'reader');
    const stranger = await signUp();
    const { customerId } = await session(member.cookie);
    expect(verdict(await post('/organisation', stranger.cookie, { customerId }))).toBe('404 not_found');
    const stolen = member.cookie.split('; ').find((each) => each.startsWith('tollgate.organisation'));
    expect(await session(`${stranger.cookie}; ${stolen}`)).toMatchObject({ organisation: stranger.email });
    const home = (await session(member.cookie)).organisations[0].customerId;
    const switched = await post('/organisation', member.cookie, { customerId: home });
    expect([switched.statusCode, switched.json().organisation]).toEqual([200, member.email]);
  });

  it('that an operator made belongs to the first who signs in with its address', async () => {
    const email = anAddress();
    await createCustomer(dashboard.pool, { email, actor: 'cli' });
    const { cookie } = await signUp(email);
    expect(await session(cookie)).toMatchObject({ organisation: email, role: 'owner' });
    const { entries } = (await dashboard.ask({ path: '/api/audit?kind=member', cookie })).json();
    expect(entries).toEqual([expect.objectContaining({ action: 'member.join', details: { member: email, role: 'owner' } })]);
  });
});

describe('the name of an organisation', () => {
  const rename = (cookie: string, name: unknown) => dashboard.ask({ method: 'PUT', path: '/api/team/name', cookie, body: { name } });

  it('stands wherever its address stood: sessions, invitations and their mails, the audit log', async () => {
    const owner = await signUp();
    const admin = await join(owner.cookie, 'admin');
    expect((await session(owner.cookie)).organisation).toBe(owner.email);
    expect((await rename(admin.cookie, '  Müller & Söhne ')).json()).toEqual({ organisation: 'Müller & Söhne', name: 'Müller & Söhne' });
    for (const { cookie } of [owner, admin]) {
      const { organisation, organisations } = await session(cookie);
      expect(organisation).toBe('Müller & Söhne');
      expect(organisations.map((each: { organisation: string }) => each.organisation)).toContain('Müller & Söhne');
    }
    const guest = anAddress();
    const token = await invite(owner.cookie, guest);
    expect(mailsTo(guest).at(-1)).toMatchObject({ subject: 'Join Müller & Söhne on Tollgate' });
    expect((await post('/invitation', owner.cookie, { token })).json()).toMatchObject({ organisation: 'Müller & Söhne' });
    const { entries } = (await dashboard.ask({ path: '/api/audit?kind=customer', cookie: owner.cookie })).json();
    expect(entries[0]).toMatchObject({ action: 'customer.rename', actor: admin.email, details: { before: null, after: 'Müller & Söhne' } });
    expect((await rename(owner.cookie, null)).json()).toEqual({ organisation: owner.email, name: null });
  });

  it('written from right to left leaves the words of a mail as they are, and given twice is told once', async () => {
    const owner = await signUp();
    for (let count = 0; count < 2; count++) expect((await rename(owner.cookie, 'شركة البيانات')).statusCode).toBe(200);
    const guest = anAddress();
    await invite(owner.cookie, guest);
    expect(mailsTo(guest).at(-1)?.subject).toBe('Join \u2068شركة البيانات\u2069 on Tollgate');
    const { entries } = (await dashboard.ask({ path: '/api/audit?kind=customer', cookie: owner.cookie })).json();
    expect(entries.filter(({ action }: { action: string }) => action === 'customer.rename')).toHaveLength(1);
  });

  it.each([
    ['nothing', '  '],
    ['more than 100 characters', 'x'.repeat(101)],
    ['a line break', 'One\nTwo'],
    ['an override of direction', 'abc\u202ecba'],
    ['an isolate', 'abc\u2066'],
    ['a link', 'Win at https://evil.example'],
    ['markup', '<b>Us</b>'],
  ])('holds no %s', async (_, name) => {
    const owner = await signUp();
    expect((await rename(owner.cookie, name)).statusCode).toBe(400);
    expect((await session(owner.cookie)).organisation).toBe(owner.email);
  });
});
