import { randomUUID } from 'node:crypto';
import { generateSellerToken } from '../../../plugins/core/access/api-key';
import { setCustomerLimits } from '../../../services/selling/customers/customer-limits';
import { removeOperator } from '../../../services/selling/operators/change-operators';
import { sellerOperations } from '../../../services/dashboard/seller/api/seller-operations';
import { partsOf } from '../../../services/dashboard/contract/endpoint';
import { SELLER_SCOPES } from '../../../services/dashboard/contract/fields';
import { ORIGIN, useDashboard, verdict } from '../support/dashboard';
import {
  askEndpoint,
  type Belongings,
  fillPath,
  makeBelongings,
  keepsEverything,
  type Sample,
  samples,
  stillPayments,
} from '../support/endpoint-samples';
import { PROGRAM_SAMPLES, type ProgramAsk, programAsks } from '../support/program-asks';
import { makeOperator } from '../support/operator';
import { operatorSamples } from '../support/operator-samples';
import { makeSellerToken } from '../support/seller-token';
import { checkOpenApi } from '../../support/openapi/check-openapi';

const NOBODY = '00000000-0000-4000-8000-000000000000';

const dashboard = useDashboard({ payments: stillPayments });
let cookie: string;
let token: { readonly id: string; readonly secret: string };
let own: Belongings;
let stranger: Belongings;
let customer: string;
beforeAll(async () => {
  own = await makeBelongings(dashboard, 'own@example.com');
  stranger = await makeBelongings(dashboard, 'stranger@example.com');
  ({ cookie } = await makeOperator(dashboard, 'ops@tollgate.test'));
  token = await makeSellerToken(dashboard, cookie);
  customer = await customerOf(own);
});
// Hundreds of requests follow, within a minute.
beforeEach(async () => void (await forgetAttempts()));

async function customerOf({ key }: Belongings): Promise<string> {
  const { rows } = await dashboard.pool.query<{ id: string }>('SELECT customer_id AS id FROM credential WHERE id = $1', [key.id]);
  return rows[0]?.id ?? '';
}

const askAs = programAsks(dashboard, '/api/seller');
const ask = (wish: ProgramAsk) => askAs({ secret: token.secret, ...wish });
/** This month has one. */
const OVERRIDES: Readonly<Record<string, Sample>> = { 'GET /statement.csv': { query: `month=${new Date().toISOString().slice(0, 7)}` } };
const walk = sellerOperations.map(({ name }) => name);
function find(name: string): (typeof sellerOperations)[number] {
  const found = sellerOperations.find((each) => each.name === name);
  if (!found) throw new Error(`no operation ${name}`);
  return found;
}
const sampleOf = async (origin: string, whose: Belongings): Promise<Sample> =>
  (await operatorSamples(dashboard.pool, whose))[origin] ?? samples[origin]?.(whose) ?? PROGRAM_SAMPLES[origin]?.() ?? {};
async function request(name: string, whose: Belongings, of = customer): Promise<ProgramAsk> {
  const { origin } = find(name);
  const { method, path } = partsOf(find(name).name);
  const sample = OVERRIDES[origin] ?? (await sampleOf(origin, whose));
  return {
    method,
    path: fillPath(path, { ...sample, params: { customer: of, ...sample.params } }).replace(/^\/api/, ''),
    body: sample.body,
  };
}
/** What each operation is asked for with `own`. */
const wishes = async (): Promise<readonly (readonly [string, ProgramAsk])[]> =>
  Promise.all(walk.map(async (name) => [name, await request(name, own)] as const));
const forgetAttempts = () => dashboard.pool.query("DELETE FROM auth_rate_limit WHERE key ~ '^(seller|operator|write)[|]'");

describe('with a token of the seller’s API', () => {
  it.each(walk)('a program does what the pages do: %s', async (name) => {
    // What is read stays as it is for the next.
    const owner = name.startsWith('GET ') ? own : await makeBelongings(dashboard);
    const answer = await ask(await request(name, owner, await customerOf(owner)));
    const { endpoint } = find(name);
    expect([answer.statusCode, answer.body]).toEqual([(endpoint.answer ?? endpoint.file) ? 200 : 204, answer.body]);
    if (endpoint.answer) expect(endpoint.answer.safeParse(answer.json()).error).toBeUndefined();
  });

  it('one customer’s things are not reached through another, nor through nobody', async () => {
    const other = await customerOf(stranger);
    for (const name of walk.filter((each) => each.includes('/:customer/')))
      for (const through of find(name).origin.includes(':') ? [other, NOBODY] : [NOBODY]) {
        const wish = await request(name, own, through);
        await keepsEverything(dashboard.pool, async () => {
          expect([name, through, (await ask(wish)).statusCode]).toEqual([name, through, 404]);
        });
      }
  });

  it('without the scope each is refused and nothing is done', async () => {
    // A token without the scopes of an operation, by them.
    const small = new Map<string, string>();
    for (const { scopes } of sellerOperations) {
      const others = SELLER_SCOPES.filter((each) => !scopes.includes(each));
      if (!small.has(scopes.join())) small.set(scopes.join(), (await makeSellerToken(dashboard, cookie, others)).secret);
    }
    const all = await wishes();
    await keepsEverything(dashboard.pool, async () => {
      for (const [name, wish] of all) {
        const { scopes } = find(name);
        const answer = await ask({ ...wish, secret: small.get(scopes.join()) });
        const refusal = expect.objectContaining({ code: 'scope_missing', scopes });
        expect([name, answer.statusCode, answer.json()]).toEqual([name, 403, refusal]);
      }
    });
  });

  it('no other credential opens one, and nothing is done', async () => {
    const all = await wishes();
    const garbage = [own.token.secret, own.secret, generateSellerToken(), 'tg_seller_x', `${token.secret}x`, 'a'.repeat(9_000)];
    await keepsEverything(dashboard.pool, async () => {
      for (const [name, wish] of all) {
        const coded = async (secret: string | undefined, headers: Readonly<Record<string, string>> = {}) => {
          const answer = await askAs({ ...wish, secret, headers });
          expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
          return [name, verdict(answer)];
        };
        expect(await coded(undefined)).toEqual([name, '401 token_missing']);
        for (const session of [cookie, own.cookie])
          expect(await coded(undefined, { cookie: session, origin: ORIGIN })).toEqual([name, '401 token_missing']);
        for (const secret of garbage) expect(await coded(secret)).toEqual([name, '401 token_not_valid']);
        await forgetAttempts();
      }
    });
  });

  it('the paths of the pages and of the management API are closed to it', async () => {
    const headers = { authorization: `Bearer ${token.secret}` };
    for (const name of walk) {
      const { origin } = find(name);
      const { method, path } = partsOf(origin);
      const sample = await sampleOf(origin, own);
      const answer = await askEndpoint(dashboard, { method, path }, { sample, headers });
      expect([name, verdict(answer)]).toEqual([name, '401 not_signed_in']);
      const managed = await dashboard.ask({
        method,
        path: fillPath(path, sample).replace('/api/', '/api/v1/'),
        body: sample.body,
        headers,
      });
      expect([401, 404]).toContain(managed.statusCode);
    }
  });

  it('accounts, nodes, invoices, the audit log and tokens are not reached', () => {
    const reached = sellerOperations.map(({ origin }) => origin).join('\n');
    for (const closed of ['/tokens', '/audit', '/nodes', '/invoices', '/account', '/team', '/webhooks', '/try', '/billing', '/session'])
      expect(reached).not.toContain(closed);
  });
});

describe('a token of the seller’s API', () => {
  it('is dead once it is revoked, has expired, or its maker is no operator any more', async () => {
    const list = async (secret: string) => verdict(await ask({ path: '/customers', secret }));
    const revoked = await makeSellerToken(dashboard, cookie);
    expect(await list(revoked.secret)).toBe('200');
    await dashboard.ask({ method: 'POST', path: `/api/operator/tokens/${revoked.id}/revoke`, cookie, body: {} });
    expect(await list(revoked.secret)).toBe('401 token_not_valid');
    const old = await makeSellerToken(dashboard, cookie);
    await dashboard.pool.query(
      "UPDATE seller_token SET created_at = created_at - interval '91 days', expires_at = expires_at - interval '91 days' WHERE id = $1",
      [old.id],
    );
    expect(await list(old.secret)).toBe('401 token_expired');
    const leaver = await makeOperator(dashboard, 'leaver@tollgate.test');
    const orphan = await makeSellerToken(dashboard, leaver.cookie);
    expect(await list(orphan.secret)).toBe('200');
    await removeOperator(dashboard.pool, { email: 'leaver@tollgate.test', actor: 'test' });
    expect(await list(orphan.secret)).toBe('401 token_not_valid');
    const { tokens } = (await dashboard.ask({ path: '/api/operator/tokens', cookie })).json();
    expect(tokens.find(({ id }: { id: string }) => id === orphan.id)).toMatchObject({ state: 'revoked', madeBy: 'leaver@tollgate.test' });
  });

  it('makes 600 requests a minute, and another one its own 600', async () => {
    const second = await makeSellerToken(dashboard, cookie);
    await ask({ path: '/customers' });
    await dashboard.pool.query('UPDATE auth_rate_limit SET count = 599 WHERE key = $1', [`seller|${token.id}`]);
    const statuses = [];
    for (let count = 0; count < 2; count++) statuses.push((await ask({ path: '/customers' })).statusCode);
    expect(statuses).toEqual([200, 429]);
    expect((await ask({ path: '/customers', secret: second.secret })).statusCode).toBe(200);
  });

  it('is in one answer, in no log and nowhere in the database', async () => {
    const { secret } = await makeSellerToken(dashboard, cookie);
    await ask({ path: `/customers?search=${secret}`, secret });
    await ask({ path: `/customers/${secret}`, secret });
    expect((await dashboard.ask({ path: '/api/operator/tokens', cookie })).body).not.toContain(secret);
    expect(dashboard.log()).not.toContain(secret);
    const { rows } = await dashboard.pool.query<{ text: string }>('SELECT t::text AS text FROM seller_token t');
    expect(rows.map(({ text }) => text).join()).not.toContain(secret);
  });
});

describe('what the seller’s programs do', () => {
  it('is done once for an idempotency key, however often it is asked for', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const create = (body: object) => ask({ method: 'POST', path: '/customers', body, headers });
    const made = (await create({ email: 'once@example.com' })).json();
    const again = await create({ email: 'once@example.com' });
    expect([again.statusCode, again.json()]).toEqual([409, expect.objectContaining({ code: 'already_done', id: made.id })]);
    const key = { 'idempotency-key': randomUUID() };
    const issue = () =>
      ask({ method: 'POST', path: `/customers/${made.id}/keys`, body: { mode: 'test', products: ['api-ip'] }, headers: key });
    const first = await issue();
    expect([first.statusCode, first.json().secret]).toEqual([200, expect.stringMatching(/^tg_test_/)]);
    expect((await issue()).json()).toMatchObject({ code: 'already_done', id: first.json().key.id });
    expect((await create({ email: 'once@example.com', submission: 'no uuid' })).statusCode).toBe(400);
  });

  it('gives plans without being asked, is not held up by the customer’s own limits, and stands in both audit logs', async () => {
    const owner = await makeBelongings(dashboard);
    const id = await customerOf(owner);
    const { rows } = await dashboard.pool.query<{ email: string }>('SELECT email FROM customer WHERE id = $1', [id]);
    await setCustomerLimits(dashboard.pool, { customer: rows[0]?.email ?? '', limits: { writesPerMinute: 1 }, actor: 'test' });
    await dashboard.pool.query("UPDATE plan SET approval = 'request' WHERE product_id = 'api-pincode' AND name = 'Star'");
    await dashboard.pool.query('UPDATE catalogue_revision SET revision = revision + 1');
    const given = await ask({ method: 'POST', path: `/customers/${id}/subscriptions`, body: { product: 'api-pincode', plan: 'Star' } });
    expect([given.statusCode, given.json().plan]).toEqual([200, 'Star']);
    for (const reason of ['unpaid', null])
      expect((await ask({ method: 'POST', path: '/suspensions', body: { kind: 'customer', id, reason } })).statusCode).toBe(204);
    const { entries } = (await dashboard.ask({ path: `/api/operator/audit?customer=${id}`, cookie })).json();
    expect(entries[0]).toMatchObject({ action: 'customer.restore', actor: 'operator:ops@tollgate.test (token back end)' });
    const customers = await dashboard.ask({ path: '/api/audit', cookie: owner.cookie });
    expect(customers.body).not.toContain('ops@tollgate.test');
  });

  it.each(['a\0b', 'a\ud800b'])('answers 400 to a text that the database cannot keep: %j', async (name) => {
    const body = { submission: randomUUID(), mode: 'test', products: ['api-ip'], name };
    expect(verdict(await ask({ method: 'POST', path: `/customers/${customer}/keys`, body }))).toBe('400 invalid_request');
  });

  it('does not subscribe by way of a key with the scope for keys alone', async () => {
    const { secret } = await makeSellerToken(dashboard, cookie, ['keys:write']);
    const body = { submission: randomUUID(), mode: 'test', products: ['api-gst'] };
    expect(verdict(await ask({ method: 'POST', path: `/customers/${customer}/keys`, body, secret }))).toBe('403 scope_missing');
  });
});

describe('/api/seller/openapi.json', () => {
  it('is for everybody, valid, and has every operation with its scope', async () => {
    const answer = await askAs({ path: '/openapi.json' });
    const document = answer.json();
    expect([answer.statusCode, document.servers]).toEqual([200, [{ url: `${ORIGIN}/api/seller` }]]);
    await checkOpenApi(document);
    for (const { name, scopes } of sellerOperations) {
      const { method, path } = partsOf(name);
      const described = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      for (const scope of scopes) expect(described?.description).toContain(scope);
    }
  });
});
