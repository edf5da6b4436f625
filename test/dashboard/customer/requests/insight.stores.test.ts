import { randomUUID } from 'node:crypto';
import { type LightMyRequestResponse } from 'fastify';
import { type Decision } from '../../../../plugins/core/ports';
import { createKey, type CreatedKey } from '../../../../services/selling/keys/create-key';
import { AnswerWriter } from '../../../../plugins/stores/postgres/decisions/answer-writer';
import { DecisionWriter } from '../../../../plugins/stores/postgres/decisions/decision-writer';
import { revokeKey } from '../../../../services/selling/keys/set-key-state';
import { eventually } from '../../../support/eventually';
import { cookieOf, PASSWORD, readPages, tokenOf, useDashboard } from '../../support/dashboard';
import { someDecision } from '../../../support/some-decision';

interface Account {
  readonly cookie: string;
  readonly customerId: string;
  readonly key: CreatedKey;
  readonly requestId: string;
  readonly webhookId: string;
  readonly secret: string;
}

const dashboard = useDashboard();
let asha: Account;
let bela: Account;

function decision(extra: Partial<Decision>): Decision {
  return someDecision({
    requestId: randomUUID(),
    atMs: Date.now(),
    outcome: 'caller_not_whitelisted',
    keyPlace: 'x-api-key',
    maskedKey: 'tg_live…abcd',
    product: 'api-ip',
    callerAddress: '203.0.113.7',
    originHost: 'shop.example.com',
    ...extra,
  });
}

async function record(...decisions: Decision[]): Promise<void> {
  const writer = new DecisionWriter({ pool: dashboard.pool, timeZone: 'Asia/Kolkata', flushMs: 3_600_000 });
  for (const each of decisions) writer.record(each);
  await writer.close();
}

/** An account with one of everything. */
async function openAccount(email: string): Promise<Account> {
  const { pool } = dashboard;
  const cookie = await dashboard.signIn(email);
  const { customerId } = (await get('/session', { cookie })).json();
  const key = await createKey(pool, { customer: customerId, products: ['api-ip'], daily: 2, monthly: 1_000, actor: 'cli' });
  const requestId = randomUUID();
  await record(decision({ requestId, credentialId: key.id, customerId }));
  const made = await dashboard.ask({ method: 'POST', path: '/api/webhooks', cookie, body: { url: 'https://hooks.example/hook' } });
  const { secret, webhook } = made.json();
  await pool.query("INSERT INTO usage (subscription_id, day, spent_redis) VALUES ($1, (now() AT TIME ZONE 'Asia/Kolkata')::date, 2)", [
    key.subscriptions[0]?.id,
  ]);
  await pool.query(
    `INSERT INTO usage (subscription_id, day, spent_redis, refunded) VALUES (test_counter($1), (now() AT TIME ZONE 'Asia/Kolkata')::date, 3, 1)`,
    [key.subscriptions[0]?.id],
  );
  return { cookie, customerId, key, requestId, webhookId: webhook.id, secret };
}

beforeAll(async () => {
  asha = await openAccount('asha@example.com');
  bela = await openAccount('bela@example.com');
});

const get = (path: string, { cookie }: Pick<Account, 'cookie'> = asha): Promise<LightMyRequestResponse> =>
  dashboard.ask({ path: `/api${path}`, cookie });
const today = (): string => new Intl.DateTimeFormat('en-CA', { timeZone: 'Asia/Kolkata' }).format(new Date());

describe('explanations', () => {
  it('show what each check saw and how to mend it', async () => {
    const body = (await get(`/explain/${asha.requestId.toUpperCase()}`)).json();
    expect(body).toMatchObject({
      outcome: 'caller_not_whitelisted',
      product: { id: 'api-ip', failing: false },
      keyId: asha.key.id,
      maskedKey: 'tg_live…abcd',
    });
    expect(body.checks.find(({ outcome }: { outcome: string }) => outcome === 'failed').saw).toContain('address 203.0.113.7');
    expect(body.remedy).toContain('shop.example.com');
  });

  it('have the response and the outage, once they are known', async () => {
    const owner = await openAccount('explained@example.com');
    const { customerId, key } = owner;
    const quota = { day: '2026-11-20', usedDaily: 1, usedMonthly: 1, daily: 2, monthly: 9, exceeded: undefined };
    const admitted = { customerId, credentialId: key.id, outcome: 'admitted' as const, method: 'GET', rawPath: '/ip', quota };
    const [before, failed] = [decision({ ...admitted, atMs: Date.now() - 7_200_000 }), decision(admitted)];
    await record(before, failed);
    expect((await get(`/explain/${failed.requestId}`, owner)).json()).toMatchObject({ answer: null, isRunning: true });
    const writer = new AnswerWriter({ pool: dashboard.pool, timeZone: 'Asia/Kolkata', flushMs: 3_600_000 });
    for (const { requestId, atMs } of [before, failed]) {
      const answer = { requestId, credentialId: key.id, product: 'api-ip', status: 502, bytes: 107, units: 1 };
      writer.note({ ...answer, atMs, elapsedMs: 31, isFromApi: false });
    }
    await writer.close();
    await dashboard.pool.query('INSERT INTO quota_refund (request_id, day) VALUES ($1, now())', [failed.requestId]);
    const { rows } = await dashboard.pool.query(
      `INSERT INTO product_outage (product_id, began_at, failed_at, answered, failed) VALUES ('api-ip', now() - interval '1 hour', now(), 9, 9)
      RETURNING to_char(began_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"') AS since`,
    );
    expect((await get(`/explain/${failed.requestId}`, owner)).json()).toMatchObject({
      summary: expect.stringMatching(/^GET \/ip → 502 in 31 ms\. Your request was admitted; .+ did not answer\. Given back\.$/),
      answer: { status: 502, milliseconds: 31, bytes: 107, units: 1, charge: 'given_back' },
      isRunning: false,
      product: { id: 'api-ip', failing: true, since: rows[0].since, until: null },
      fixes: [{ kind: 'open_status' }, { kind: 'ask_support' }],
    });
    expect((await get(`/explain/${before.requestId}`, owner)).json()).toMatchObject({
      answer: { charge: 'charged' },
      product: { failing: false },
    });
    await dashboard.pool.query('DELETE FROM product_outage');
  });

  it('of a request without a key of anybody are for whoever holds the id, and of a key of somebody else for nobody', async () => {
    const nobody = { keyPlace: undefined, maskedKey: undefined, credentialId: undefined, customerId: undefined };
    const anonymous = decision({ ...nobody, outcome: 'key_missing', method: 'GET', rawPath: '/ip' });
    const owner = await openAccount('revoked@example.com');
    const { customerId, key } = owner;
    const revoked = decision({ customerId, credentialId: key.id, outcome: 'key_inactive', suspended: 'unpaid' });
    await record(anonymous, revoked);
    const text = (await get(`/explain/${anonymous.requestId}`)).body;
    expect(JSON.parse(text)).toMatchObject({ outcome: 'key_missing', answer: { status: 401 }, keyId: null });
    expect(text).not.toContain('203.0.113.7');
    const ofRevoked = (await get(`/explain/${revoked.requestId}`)).body;
    expect(JSON.parse(ofRevoked)).toMatchObject({ outcome: 'key_unknown', keyId: null, fixes: [{ kind: 'read_code' }] });
    for (const secret of [customerId, key.id, 'unpaid', '203.0.113.7']) expect(ofRevoked).not.toContain(secret);
    expect((await get(`/explain/${revoked.requestId}`, owner)).json()).toMatchObject({ outcome: 'key_inactive', keyId: key.id });
    expect((await get(`/explain/${asha.requestId}`, bela)).statusCode).toBe(404);
    // The page for readers without a session, to which refusals lead.
    const page = async (requestId: string): Promise<string> => (await dashboard.ask({ path: `/explain?request=${requestId}` })).body;
    expect(await page(anonymous.requestId)).toMatch(/GET \/ip → 401 key_missing\..*Create an account/s);
    const [hidden, ofStranger] = [await page(asha.requestId), await page(revoked.requestId)];
    expect(hidden).toContain('Sign in to see this request');
    const nobodys = '0123456789abcdef0123456789abcdef';
    expect(hidden).toBe((await page(nobodys)).replaceAll(nobodys, asha.requestId));
    expect(ofStranger).toContain('401 key_unknown');
    for (const secret of [customerId, key.id, 'unpaid', '203.0.113.7']) expect(ofStranger).not.toContain(secret);
  });

  it('list refusals newest first, page by page, without loss when many share a moment, and of one key', async () => {
    const { customerId } = asha;
    const other = await createKey(dashboard.pool, { customer: customerId, products: ['api-ip'], actor: 'cli' });
    const atMs = Date.now() - 3_600_000;
    const many = Array.from({ length: 7 }, () => decision({ atMs, customerId, credentialId: other.id, outcome: 'key_expired' }));
    await record(...many, decision({ customerId, outcome: 'admitted' }), decision({ atMs: Date.now() - 8 * 86_400_000, customerId }));
    const seen = (await readPages('refusals', (after) => get(`/refusals?limit=3${after}`))).map(({ requestId }) => requestId);
    expect(seen).toHaveLength(8);
    expect(new Set(seen)).toEqual(new Set([asha.requestId, ...many.map(({ requestId }) => requestId)]));
    expect(seen[0]).toBe(asha.requestId);
    const ofOther = (await get(`/refusals?key=${other.id}`)).json();
    expect(ofOther.refusals).toHaveLength(7);
    expect((await get(`/refusals?key=${bela.key.id}`)).json().refusals).toEqual([]);
  });
});

describe('the audit log', () => {
  const actions = async (cookie: string, kind = ''): Promise<string[]> =>
    (await dashboard.ask({ path: `/api/audit?limit=100${kind === '' ? '' : `&kind=${kind}`}`, cookie }))
      .json()
      .entries.map(({ action }: { action: string }) => action);

  it('has sign-ins, changes of the password and ended sessions, with where they came from', async () => {
    const email = 'entered@example.com';
    await dashboard.signIn(email);
    const auth = (path: string, body: object, cookie?: string) =>
      dashboard.ask({ method: 'POST', path: `/api/auth/${path}`, body, cookie, from: '198.51.100.77' });
    const signedIn = await auth('sign-in/email', { email: 'Entered@Example.com', password: PASSWORD });
    const cookie = cookieOf(signedIn);
    await auth('sign-in/email', { email, password: 'not the password' });
    await auth('revoke-other-sessions', {}, cookie);
    const changed = await auth('change-password', { currentPassword: PASSWORD, newPassword: `${PASSWORD} anew` }, cookie);
    const last = cookieOf(changed);
    expect(await actions(last)).toEqual([
      'account.password_change',
      'account.session_end',
      'account.sign_in',
      'account.sign_in',
      'customer.create',
    ]);
    const { entries } = (await dashboard.ask({ path: '/api/audit?kind=account', cookie: last })).json();
    expect(entries[0]).toMatchObject({ actor: email, from: '198.51.100.77', subject: { kind: 'customer' } });
    await auth('request-password-reset', { email });
    await eventually(() => dashboard.mails.some(({ to, text }) => to === email && text.includes('/reset-password')));
    const mail = dashboard.mails.find(({ to, text }) => to === email && text.includes('/reset-password'));
    await auth('reset-password', { token: tokenOf(mail), newPassword: PASSWORD });
    const again = cookieOf(await auth('sign-in/email', { email, password: PASSWORD }));
    expect((await actions(again)).slice(0, 2)).toEqual(['account.sign_in', 'account.password_reset']);
  });

  it('is filtered by kind, and exported whole as CSV', async () => {
    const customer = await openAccount('exported@example.com');
    await createKey(dashboard.pool, { customer: customer.customerId, name: '=1+1', products: ['api-ip'], actor: 'cli' });
    const all = await actions(customer.cookie);
    const keys = await actions(customer.cookie, 'key');
    expect(new Set(all.map((action) => action.split('.')[0])).size).toBeGreaterThan(2);
    expect(keys).toEqual(all.filter((action) => action.startsWith('key.')));
    expect((await dashboard.ask({ path: '/api/audit?kind=nothing', cookie: customer.cookie })).statusCode).toBe(400);
    const csv = await dashboard.ask({ path: '/api/audit.csv', cookie: customer.cookie });
    expect(csv.headers['content-type']).toMatch(/^text\/csv/);
    const lines = csv.body.trimEnd().split('\r\n');
    expect(lines.slice(1).map((line) => line.split(',')[3])).toEqual(all);
    const some = await dashboard.ask({ path: '/api/audit.csv?kind=key', cookie: customer.cookie });
    expect(some.body.trimEnd().split('\r\n')).toHaveLength(keys.length + 1);
  });

  it('shows its customer who changed what, from where, page by page', async () => {
    const customer = await openAccount('audited@example.com');
    const { customerId, cookie, webhookId } = customer;
    const key = await createKey(dashboard.pool, { customer: customerId, products: ['api-ip'], actor: 'cli' });
    await revokeKey(dashboard.pool, { id: key.id, actor: 'cli' });
    await dashboard.ask({ method: 'DELETE', path: `/api/webhooks/${webhookId}`, cookie, from: '198.51.100.9' });
    const entries = await readPages('entries', (after) => get(`/audit?limit=2${after}`, customer));
    expect(entries[0]).toMatchObject({
      actor: 'audited@example.com',
      from: '198.51.100.9',
      action: 'webhook.delete',
      subject: { kind: 'customer' },
    });
    expect(entries[1]).toMatchObject({ actor: 'operator', from: null, action: 'key.revoke', subject: { kind: 'credential', id: key.id } });
    expect(entries[1].subject.label).toMatch(/^tg_live….{4}$/);
    expect(entries.find(({ action }) => action === 'subscription.create')?.subject).toMatchObject({
      kind: 'subscription',
      label: 'api-ip',
    });
    expect(new Set(entries.map((entry) => JSON.stringify(entry))).size).toBe(entries.length);
    expect(JSON.stringify(entries)).not.toContain(asha.customerId);
  });
});

describe('webhooks', () => {
  it.each([
    'http://127.0.0.1/',
    'http://localhost/',
    'http://[::1]/',
    'http://hooks.example/',
    'http://hooks.example:8080/',
    'https://user:pass@hooks.example/',
    'https://127.0.0.1/',
    'https://localhost/',
    'https://[::1]/',
    'https://169.254.169.254/latest/',
    'ftp://hooks.example/',
    'http://169.254.169.254/latest/',
  ])('refuse %s when it is entered', async (url) => {
    const response = await dashboard.ask({ method: 'POST', path: '/api/webhooks', cookie: asha.cookie, body: { url } });
    expect([response.statusCode, response.json().errors?.[0]?.field]).toEqual([400, 'url']);
  });

  it('show a secret once, and a new one when asked', async () => {
    expect(asha.secret).toMatch(/^whsec_[\w+/]{43}=$/);
    const path = `/api/webhooks/${asha.webhookId}/secret`;
    const renewed = (await dashboard.ask({ method: 'POST', path, cookie: asha.cookie, body: {} })).json();
    expect(renewed.secret).not.toBe(asha.secret);
    expect((await get('/webhooks')).body).not.toMatch(/whsec_/);
    expect(dashboard.log()).not.toMatch(/whsec_/);
  });

  it('send at most ten tests and replays a minute for one customer', async () => {
    const { cookie, webhookId } = await openAccount('busy@example.com');
    const path = `/api/webhooks/${webhookId}/test`;
    const statuses: number[] = [];
    for (let count = 0; count < 12; count++) {
      statuses.push((await dashboard.ask({ method: 'POST', path, cookie, body: {} })).statusCode);
    }
    expect(statuses.filter((status) => status === 200).length).toBeLessThanOrEqual(10);
    expect(statuses.at(-1)).toBe(429);
  });
});

describe('usage', () => {
  it.each([
    ['from=2026-11-21&to=2026-11-20', 400],
    ['from=2026-01-01&to=2026-04-02', 200],
    ['from=2026-01-01&to=2026-04-03', 400],
    ['from=0000-01-01&to=0000-01-02', 400],
    ['from=2026-11-13&to=2026-11-19&by=hour', 200],
    ['from=2026-11-12&to=2026-11-19&by=hour', 400],
  ])('is told of 92 days, by hour of seven, both ends counted: %s is %d', async (period, status) => {
    for (const path of ['/usage', '/usage.csv']) expect((await get(`${path}?${period}`)).statusCode).toBe(status);
  });

  it('is downloaded as CSV with a line for each day and product', async () => {
    const { headers, body } = await get(`/usage.csv?from=${today()}&to=${today()}`, bela);
    expect(headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': expect.stringContaining('attachment; filename="usage-'),
    });
    expect(body).toBe(
      `day,product,charged,refunded,used,refused,refused_caller_not_whitelisted,test_charged,test_refunded,test_used,admitted,succeeded,rejected,failed,abandoned\r\n${today()},api-ip,2,0,2,1,1,3,1,2,0,,,,\r\n`,
    );
  });

  it('by hour counts what was admitted and refused by product and mode, of one’s own keys alone', async () => {
    const customer = await openAccount('by-hour@example.com');
    const { customerId } = customer;
    const live = { customerId, credentialId: customer.key.id, outcome: 'admitted' as const };
    const trial = await createKey(dashboard.pool, { customer: customerId, products: ['api-ip'], mode: 'test', actor: 'cli' });
    // 00:10 and 01:10 in Kolkata.
    const [first, second] = [Date.parse('2026-11-18T18:40:00Z'), Date.parse('2026-11-18T19:40:00Z')];
    await record(
      decision({ ...live, atMs: first }),
      decision({ ...live, atMs: first, product: 'api-seo' }),
      decision({ ...live, atMs: second }),
      decision({ ...live, atMs: second, outcome: 'key_expired' }),
      decision({ ...live, atMs: second, outcome: 'quota_unavailable' }),
      decision({ ...live, atMs: second, credentialId: trial.id }),
      decision({ customerId: bela.customerId, credentialId: bela.key.id, atMs: second }),
    );
    const writer = new AnswerWriter({ pool: dashboard.pool, timeZone: 'Asia/Kolkata', flushMs: 3_600_000 });
    const answer = {
      requestId: 'answered',
      credentialId: customer.key.id,
      product: 'api-ip',
      bytes: 5,
      units: 17,
      atMs: second,
      isFromApi: true,
    };
    writer.note({ ...answer, status: 404, elapsedMs: 12 });
    writer.note({ ...answer, status: 499, elapsedMs: 31_000 });
    await writer.close();
    const period = 'from=2026-11-19&to=2026-11-19&by=hour';
    const body = (await get(`/usage?${period}&product=api-ip`, customer)).json();
    const nothing = { product: 'api-ip', mode: 'live', admitted: 0, refused: 0, unavailable: 0, answers: null };
    const [midnight, one] = ['2026-11-18T18:30:00.000Z', '2026-11-18T19:30:00.000Z'];
    expect(body).toMatchObject({ days: [], refusals: [] });
    const took = [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    const answers = { succeeded: 0, rejected: 1, failed: 0, abandoned: 1, took };
    expect(body.answerTimesMs).toHaveLength(took.length - 1);
    expect(body.hours).toEqual([
      { ...nothing, startsAt: midnight, admitted: 1 },
      { ...nothing, startsAt: one, admitted: 1, refused: 1, unavailable: 1, answers },
      { ...nothing, startsAt: one, mode: 'test', admitted: 1 },
    ]);
    expect((await get(`/usage?${period}`, customer)).json().hours).toHaveLength(4);
    const byDay = (await get(`/usage?from=2026-11-18&to=2026-11-19`, customer)).json().answers;
    expect(byDay).toEqual([
      { day: '2026-11-19', product: 'api-ip', admitted: 3, answers },
      { day: '2026-11-19', product: 'api-seo', admitted: 1, answers: null },
    ]);
    expect((await get(`/usage?from=2026-11-18&to=2026-11-19&product=api-seo`, customer)).json().answers).toEqual(byDay.slice(1));
    expect((await get(`/usage.csv?from=2026-11-18&to=2026-11-19`, customer)).body).toMatch(/,3,0,1,0,1\r\n.*api-seo.*,1,,,,\r\n$/);
    expect((await get(`/usage.csv?${period}`, customer)).body.split('\r\n')).toEqual([
      'starts_at,product,mode,admitted,refused,unavailable,succeeded,rejected,failed,abandoned',
      `${midnight},api-ip,live,1,0,0,,,,`,
      `${midnight},api-seo,live,1,0,0,,,,`,
      `${one},api-ip,live,1,1,1,0,1,0,1`,
      `${one},api-ip,test,1,0,0,,,,`,
      '',
    ]);
    const ofKey = (await get(`/keys/${trial.id}/usage?${period}`, customer)).json();
    expect(ofKey.use).toMatchObject([{ day: '2026-11-19', hour: 1, startsAt: one, admitted: 1 }]);
  });
});
