import { PERSONAL_PARTS } from '../../../../services/selling/customers/personal-parts';
import { EXPORT_SECTIONS, exportPerson } from '../../../../services/selling/customers/export-person';
import { PASSWORD, useDashboard } from '../../support/dashboard';
import { makeBelongings } from '../../support/endpoint-samples';
import { fillEveryTable, idsOfCustomer } from '../../support/own-rows';

const dashboard = useDashboard({}, true);

const EMAIL = 'asha@example.com';
const NEIGHBOUR = 'neighbour@example.com';
const ask = (cookie: string, body: unknown = { password: PASSWORD }) =>
  dashboard.ask({ method: 'POST', path: '/api/account/export', body, cookie, from: '192.0.2.44' });

describe('the export of what is known of a person', () => {
  it('has something for every part that the account page names', () => {
    const parts = new Set(EXPORT_SECTIONS.map(({ part }) => part));
    expect([...parts].sort()).toEqual(Object.keys(PERSONAL_PARTS).sort());
  });

  it('holds everything of this person, no secret, and nothing of anybody else', async () => {
    const own = await makeBelongings(dashboard, EMAIL);
    await fillEveryTable(dashboard.pool, EMAIL);
    const other = await makeBelongings(dashboard, NEIGHBOUR);
    await fillEveryTable(dashboard.pool, NEIGHBOUR);
    const answer = await ask(own.cookie);
    expect([answer.statusCode, answer.headers['content-disposition']]).toEqual([200, 'attachment; filename="tollgate-account.json"']);
    const file: Record<string, unknown> = answer.json();
    expect(Object.keys(file)).toEqual(['exported_at', ...EXPORT_SECTIONS.map(({ name }) => name), 'cut_off']);
    for (const { name } of EXPORT_SECTIONS) expect([name, file[name]]).toEqual([name, expect.arrayContaining([expect.anything()])]);
    expect(file).toMatchObject({
      account: [{ email: EMAIL, ways_to_sign_in: ['credential'] }],
      keys: [{ id: own.key.id, name: 'own', products: ['api-ip'], rules: ['203.0.113.77'] }],
      cut_off: [],
    });
    for (const each of [NEIGHBOUR, ...(await idsOfCustomer(dashboard.pool, NEIGHBOUR))]) expect(answer.body).not.toContain(each);
    const { rows } = await dashboard.pool.query<{ secret: string }>(
      `SELECT secret FROM webhook UNION SELECT token FROM auth_session UNION SELECT password FROM auth_account
       UNION SELECT encode(hash, 'hex') FROM credential UNION SELECT encode(hash, 'hex') FROM admin_token UNION SELECT 'sealed'`,
    );
    for (const { secret } of [...rows, own, own.token, other]) expect(answer.body).not.toContain(secret);
    expect(answer.body).not.toContain('op@example.com');
  });

  it('names every organisation that the person is a member of, with the role, and no other member of it', async () => {
    const cookie = await dashboard.signIn(EMAIL);
    await dashboard.signIn(NEIGHBOUR);
    await dashboard.signIn('stranger@example.com');
    await dashboard.pool.query(
      `INSERT INTO member (customer_id, user_id, role)
       SELECT c.id, u.id, 'reader' FROM customer c, auth_user u WHERE c.email = $1 AND u.email IN ($2, 'stranger@example.com')`,
      [NEIGHBOUR, EMAIL],
    );
    const answer = await ask(cookie);
    const { memberships } = answer.json<{ memberships: { organisation: string; role: string }[] }>();
    expect(memberships.map(({ organisation, role }) => [organisation, role]).sort()).toEqual([
      [EMAIL, 'owner'],
      [NEIGHBOUR, 'reader'],
    ]);
    expect(memberships[0]).toEqual({
      organisation_id: expect.any(String),
      organisation: expect.any(String),
      role: expect.any(String),
      since: expect.any(String),
    });
    expect(answer.body).not.toContain('stranger@example.com');
  });

  it.each(['admin', 'developer', 'billing', 'reader'])('gives a founder who is %s by now the own account alone', async (role) => {
    const own = await makeBelongings(dashboard, EMAIL);
    await fillEveryTable(dashboard.pool, EMAIL);
    await dashboard.pool.query("UPDATE member SET role = 'owner' FROM auth_user u WHERE u.id = user_id AND u.email <> $1", [EMAIL]);
    await dashboard.pool.query('UPDATE member SET role = $1 FROM auth_user u WHERE u.id = user_id AND u.email = $2', [role, EMAIL]);
    const file: Record<string, unknown[]> = (await ask(own.cookie)).json();
    const ofPerson = EXPORT_SECTIONS.filter(({ part }) => part === 'account').map(({ name }) => name);
    for (const { name } of EXPORT_SECTIONS) expect([name, (file[name] ?? []).length > 0]).toEqual([name, ofPerson.includes(name)]);
    expect(file['account']).toMatchObject([{ email: EMAIL, customer_id: null, organisation_name: null }]);
  });

  it('asks for the password, and may be had three times an hour', async () => {
    const cookie = await dashboard.signIn(EMAIL);
    expect((await ask(cookie, { password: 'not the password' })).json().code).toBe('invalid_password');
    expect((await ask(cookie, {})).json().code).toBe('invalid_password');
    for (let time = 0; time < 3; time++) expect((await ask(cookie)).statusCode).toBe(200);
    const limited = await ask(cookie);
    expect([limited.statusCode, Number(limited.headers['retry-after'])]).toEqual([429, expect.any(Number)]);
    const { rows } = await dashboard.pool.query("SELECT actor FROM audit_log WHERE action = 'account.export'");
    expect(rows).toEqual(Array(3).fill({ actor: `dashboard:${EMAIL}` }));
  });

  it('is read page by page, loses and repeats no row, and says what it cut off', async () => {
    const cookie = await dashboard.signIn(EMAIL);
    const { customerId } = (await dashboard.ask({ path: '/api/session', cookie })).json();
    const { rows } = await dashboard.pool.query<{ id: string }>('SELECT id FROM auth_user');
    await dashboard.pool.query(
      `INSERT INTO decision (request_id, at, outcome, products, customer_id)
       SELECT 'request ' || n, now(), 'admitted', '{api-ip}', $1 FROM generate_series(1, 1201) n`,
      [customerId],
    );
    const read = async (most?: number) => {
      const options = { userId: rows[0]?.id ?? '', customerId, at: new Date(), ...(most !== undefined && { most }) };
      let text = '';
      for await (const piece of exportPerson(dashboard.db, options)) text += piece;
      const file: { requests: { request_id: string }[]; cut_off: string[] } = JSON.parse(text);
      return file;
    };
    const whole = await read();
    expect([whole.requests.length, new Set(whole.requests.map((each) => each.request_id)).size, whole.cut_off]).toEqual([1201, 1201, []]);
    const cut = await read(700);
    expect([cut.requests.length, cut.cut_off]).toEqual([700, ['requests']]);
  });
});
