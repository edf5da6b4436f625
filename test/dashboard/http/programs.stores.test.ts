import { randomUUID } from 'node:crypto';
import { type LightMyRequestResponse } from 'fastify';
import { generateAdminToken, generateSellerToken } from '../../../plugins/core/access/api-key';
import { setCustomerLimits } from '../../../services/selling/customers/customer-limits';
import { removeOperator } from '../../../services/selling/operators/change-operators';
import { suspendCustomer } from '../../../services/selling/suspensions/suspend';
import { type Endpoint, type EndpointName, partsOf } from '../../../services/dashboard/contract/endpoint';
import { endpointsFor } from '../../../services/dashboard/contract/endpoints';
import { SCOPES, SELLER_SCOPES } from '../../../services/dashboard/contract/fields';
import { managementOperations } from '../../../services/dashboard/customer/management/management-document';
import { sellerOperations } from '../../../services/dashboard/seller/api/seller-operations';
import { ORIGIN, useDashboard, verdict } from '../support/dashboard';
import {
  askEndpoint,
  type Belongings,
  fillPath,
  keepsEverything,
  makeBelongings,
  makeToken,
  type Sample,
  samples,
  stillPayments,
} from '../support/endpoint-samples';
import { makeOperator } from '../support/operator';
import { operatorSamples } from '../support/operator-samples';
import { rowsAbout } from '../support/own-rows';
import { PROGRAM_SAMPLES, type ProgramAsk, programAsks } from '../support/program-asks';
import { makeSellerToken } from '../support/seller-token';
import { checkOpenApi } from '../../support/openapi/check-openapi';

const NOBODY = '00000000-0000-4000-8000-000000000000';
const dashboard = useDashboard({ payments: stillPayments });
let own: Belongings;
let operator: string;
let sellerToken: { readonly id: string; readonly secret: string };
beforeAll(async () => {
  own = await makeBelongings(dashboard, 'own@example.com');
  await setCustomerLimits(dashboard.pool, { customer: 'own@example.com', limits: { writesPerMinute: 100_000 }, actor: 'test' });
  ({ cookie: operator } = await makeOperator(dashboard, 'ops@tollgate.test'));
  sellerToken = await makeSellerToken(dashboard, operator);
});
// Hundreds of requests follow, within a minute.
const forgetAttempts = () => dashboard.pool.query("DELETE FROM auth_rate_limit WHERE key ~ '^(management|seller|operator|write)[|]'");
beforeEach(forgetAttempts);

async function customerOf({ key }: Belongings): Promise<string> {
  const { rows } = await dashboard.pool.query<{ id: string }>('SELECT customer_id AS id FROM credential WHERE id = $1', [key.id]);
  return rows[0]?.id ?? '';
}

/** One endpoint of the pages that a token may use. */
interface Operation {
  /** Below the API's prefix. */
  readonly name: EndpointName;
  readonly origin: EndpointName;
  readonly endpoint: Endpoint;
  readonly scopes: readonly string[];
}

/** The management API of a customer, or the seller's. */
interface Api {
  readonly prefix: string;
  readonly operations: readonly Operation[];
  readonly scopes: readonly string[];
  sampleOf(origin: string, whose: Belongings): Promise<Sample>;
  /** With every scope. */
  token(whose: Belongings): Belongings['token'];
  readonly make: (scopes?: readonly string[]) => Promise<{ readonly id: string; readonly secret: string }>;
  /** Where the pages have their tokens, and whose session opens them. */
  readonly tokens: string;
  cookie(): string;
  readonly table: string;
  /** Of another API, or of nobody. */
  others(): readonly string[];
}

const MANAGEMENT: Api = {
  prefix: '/api/v1',
  operations: managementOperations.map((each) => ({ ...each, origin: each.name })),
  scopes: SCOPES,
  sampleOf: async (name, whose) => samples[name]?.(whose) ?? PROGRAM_SAMPLES[name]?.() ?? {},
  token: (whose) => whose.token,
  make: (scopes) => makeToken(dashboard, own.cookie, scopes),
  tokens: '/api/tokens',
  cookie: () => own.cookie,
  table: 'admin_token',
  others: () => [generateAdminToken(), 'tg_admin_x', own.secret, sellerToken.secret],
};
/** This month has one. */
const OVERRIDES: Readonly<Record<string, Sample>> = { 'GET /statement.csv': { query: `month=${new Date().toISOString().slice(0, 7)}` } };
const SELLER: Api = {
  prefix: '/api/seller',
  operations: sellerOperations,
  scopes: SELLER_SCOPES,
  async sampleOf(origin, whose) {
    const sample = (await operatorSamples(dashboard.pool, whose))[origin] ?? samples[origin]?.(whose) ?? PROGRAM_SAMPLES[origin]?.() ?? {};
    return { ...(OVERRIDES[origin] ?? sample), params: { customer: await customerOf(whose), ...sample.params } };
  },
  token: () => sellerToken,
  make: (scopes) => makeSellerToken(dashboard, operator, scopes),
  tokens: '/api/operator/tokens',
  cookie: () => operator,
  table: 'seller_token',
  others: () => [generateSellerToken(), 'tg_seller_x', own.secret, own.token.secret],
};

const fill = (path: string, sample: Sample): string => fillPath(path, sample).slice('/api'.length);

describe.each([
  ['management API', MANAGEMENT],
  ['seller’s API', SELLER],
])('with a token of the %s', (_, api) => {
  const askAs = programAsks(dashboard, api.prefix);
  const { operations } = api;
  const ask = (wish: ProgramAsk): Promise<LightMyRequestResponse> => askAs({ secret: api.token(own).secret, ...wish });
  const request = async ({ name, origin }: Operation, whose: Belongings): Promise<ProgramAsk> => {
    const { method, path } = partsOf(name);
    const sample = await api.sampleOf(origin, whose);
    return { method, path: fill(path, sample), body: sample.body };
  };
  /** What each operation is asked for with `own`. */
  const wishes = async (): Promise<readonly (readonly [Operation, ProgramAsk])[]> =>
    Promise.all(operations.map(async (each) => [each, await request(each, own)] as const));
  const list = operations.find(({ origin }) => origin === (api === SELLER ? 'GET /operator/customers' : 'GET /keys'))?.name ?? 'GET /';
  const refusedWith = async (secret: string) => verdict(await ask({ path: partsOf(list).path, secret }));

  it.each(operations.map((each) => [each.name, each] as const))('a program does what the pages do: %s', async (name, operation) => {
    // What is read stays as it is for the next.
    const owner = name.startsWith('GET ') ? own : await makeBelongings(dashboard);
    const answer = await ask({ ...(await request(operation, owner)), secret: api.token(owner).secret });
    const { endpoint } = operation;
    expect([answer.statusCode, answer.body]).toEqual([(endpoint.answer ?? endpoint.file) ? 200 : 204, answer.body]);
    if (endpoint.answer) expect(endpoint.answer.safeParse(answer.json()).error).toBeUndefined();
  });

  it('without the scope each is refused and nothing is done', async () => {
    // A token without the scopes of an operation, by them.
    const small = new Map<string, string>();
    for (const { scopes } of operations) {
      if (small.has(scopes.join())) continue;
      const { secret } = await api.make(api.scopes.filter((each) => !scopes.includes(each)));
      // When a token was last used is noted once a while.
      await refusedWith(secret);
      small.set(scopes.join(), secret);
    }
    const all = await wishes();
    await keepsEverything(dashboard.pool, async () => {
      for (const [{ name, scopes }, wish] of all) {
        const answer = await ask({ ...wish, secret: small.get(scopes.join()) });
        const refusal = expect.objectContaining({ code: 'scope_missing', scopes });
        expect([name, answer.statusCode, answer.json()]).toEqual([name, 403, refusal]);
      }
    });
  });

  it('no other credential opens one, and nothing is done', async () => {
    const all = await wishes();
    const { secret } = api.token(own);
    const garbage = [...api.others(), `${secret}x`, secret.toLowerCase(), 'a'.repeat(9_000)];
    await keepsEverything(dashboard.pool, async () => {
      for (const [{ name }, wish] of all) {
        const coded = async (given: string | undefined, headers: Readonly<Record<string, string>> = {}) => {
          const answer = await askAs({ ...wish, secret: given, headers });
          expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
          expect(answer.headers['content-type']).toMatch('application/problem+json');
          return [name, verdict(answer)];
        };
        expect(await coded(undefined)).toEqual([name, '401 token_missing']);
        for (const cookie of [operator, own.cookie])
          expect(await coded(undefined, { cookie, origin: ORIGIN })).toEqual([name, '401 token_missing']);
        for (const each of garbage) expect(await coded(each)).toEqual([name, '401 token_not_valid']);
        await forgetAttempts();
      }
    });
  });

  it('the paths of the pages are closed to it, and those of another API', async () => {
    const headers = { authorization: `Bearer ${api.token(own).secret}` };
    for (const { origin } of operations) {
      const { method, path } = partsOf(origin);
      const sample = await api.sampleOf(origin, own);
      const answer = await askEndpoint(dashboard, { method, path }, { sample, headers });
      expect([origin, verdict(answer)]).toEqual([origin, '401 not_signed_in']);
      const other = `${api === SELLER ? '/api/v1' : '/api/seller'}${fill(path, sample)}`;
      expect([401, 404]).toContain((await dashboard.ask({ method, path: other, body: sample.body, headers })).statusCode);
    }
  });

  it('nothing is done once it is revoked or has expired, from the next request on', async () => {
    const revoked = await api.make();
    expect(await refusedWith(revoked.secret)).toBe('200');
    const revoke = { method: 'POST', path: `${api.tokens}/${revoked.id}/revoke`, cookie: api.cookie(), body: {} } as const;
    expect((await dashboard.ask(revoke)).json()).toMatchObject({ id: revoked.id, state: 'revoked' });
    expect(await refusedWith(revoked.secret)).toBe('401 token_not_valid');
    const old = await api.make();
    const later = "created_at = created_at - interval '91 days', expires_at = expires_at - interval '91 days'";
    await dashboard.pool.query(`UPDATE ${api.table} SET ${later} WHERE id = $1`, [old.id]);
    expect(await refusedWith(old.secret)).toBe('401 token_expired');
  });

  it('a program makes 600 requests a minute', async () => {
    const { secret } = api.token(own);
    await refusedWith(secret);
    await dashboard.pool.query("UPDATE auth_rate_limit SET count = 599 WHERE key ~ '^(management|seller)[|]'");
    expect([await refusedWith(secret), await refusedWith(secret)]).toEqual(['200', '429 too_many_attempts']);
  });

  it('its secret is in one answer, in no log and nowhere in the database', async () => {
    const { secret } = await api.make();
    const { path } = partsOf(list);
    for (const each of [path, `${path}/${secret}`, `${path}?search=${secret}`]) await ask({ path: each, secret });
    await ask({ method: 'POST', path: '/nothing', secret, body: { secret } });
    await dashboard.ask({ path: '/api/keys', headers: { authorization: `Bearer ${secret}` } });
    expect((await dashboard.ask({ path: api.tokens, cookie: api.cookie() })).body).not.toContain(secret);
    expect(dashboard.log()).not.toContain(secret);
    expect(await rowsAbout(dashboard.pool, [secret])).toEqual({});
  });

  it('its document is for everybody, valid, and has every operation with its scope', async () => {
    const answer = await askAs({ path: '/openapi.json' });
    const document = answer.json();
    expect([answer.statusCode, document.servers]).toEqual([200, [{ url: `${ORIGIN}${api.prefix}` }]]);
    await checkOpenApi(document);
    for (const { name, scopes } of operations) {
      const { method, path } = partsOf(name);
      const described = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      for (const scope of scopes) expect(described?.description).toContain(scope);
      expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(['400', '401', '403', '429']));
    }
  });
});

describe('the management API', () => {
  const ask = programAsks(dashboard, '/api/v1');

  it('reaches no accounts, sessions, tokens, audit log, webhooks and trying out', async () => {
    const reached = managementOperations.map(({ name }) => name as string);
    const others = endpointsFor('members').filter(({ name }) => !reached.includes(name));
    expect(others.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/session', '/tokens', '/tokens/:id/revoke', '/audit', '/webhooks', '/try']),
    );
    await keepsEverything(dashboard.pool, async () => {
      for (const { method, path } of [
        ...others,
        { method: 'POST', path: '/auth/change-password' },
        { method: 'GET', path: '/auth/get-session' },
      ] as const) {
        const sample = samples[`${method} ${path}`]?.(own) ?? {};
        const answer = await ask({ method, path: fill(path, sample), body: sample.body, secret: own.token.secret });
        expect([path, answer.statusCode]).toEqual([path, 404]);
      }
    });
  });

  const make = (cookie: string, body: object = {}) => {
    const usual = { submission: randomUUID(), name: 'n', scopes: ['keys:read'] };
    return dashboard.ask({ method: 'POST', path: '/api/tokens', cookie, body: { ...usual, ...body } });
  };

  it('has tokens that live 90 days unless told otherwise, and 400 at most, with scopes that there are', async () => {
    const cookie = await dashboard.signIn();
    const days = async (body: object): Promise<number> => {
      const { token } = (await make(cookie, body)).json();
      return (Date.parse(token.expiresAt) - Date.parse(token.createdAt)) / 86_400_000;
    };
    expect([await days({}), await days({ days: 400 })]).toEqual([90, 400]);
    const longer = dashboard.pool.query("UPDATE admin_token SET expires_at = created_at + interval '401 days'");
    await expect(longer).rejects.toThrow('admin_token_check');
    for (const wrong of [{ days: 401 }, { scopes: ['keys:everything'] }, { scopes: [] }, { scopes: 'keys:read' }])
      expect((await make(cookie, wrong)).statusCode).toBe(400);
  });

  it('makes a token once however often its form is sent, and twenty at most are in use', async () => {
    const cookie = await dashboard.signIn();
    const submission = randomUUID();
    expect([verdict(await make(cookie, { submission })), verdict(await make(cookie, { submission }))]).toEqual(['200', '409 already_done']);
    for (let count = 1; count < 20; count++) expect((await make(cookie)).statusCode).toBe(200);
    expect(verdict(await make(cookie))).toBe('409 token_limit_reached');
  });

  it('tells when a token was used last, and the audit log names it', async () => {
    const owner = await makeBelongings(dashboard);
    const mine = async () => (await dashboard.ask({ path: '/api/tokens', cookie: owner.cookie })).json().tokens[0];
    expect((await mine()).lastUsedAt).toBeNull();
    const { version } = owner.key;
    await ask({ method: 'POST', path: `/keys/${owner.key.id}/revoke`, body: { version }, secret: owner.token.secret });
    expect((await mine()).lastUsedAt).not.toBeNull();
    const { entries } = (await dashboard.ask({ path: '/api/audit', cookie: owner.cookie })).json();
    expect(entries[0]).toMatchObject({ action: 'key.revoke', actor: 'token “deploy”', from: '127.0.0.1' });
  });

  it('counts the changes a minute of a customer with those of the pages, and leaves reading alone', async () => {
    const email = 'busy@example.com';
    const busy = await makeBelongings(dashboard, email);
    const second = await makeToken(dashboard, busy.cookie);
    await dashboard.pool.query("DELETE FROM auth_rate_limit WHERE key LIKE 'write|%'");
    await setCustomerLimits(dashboard.pool, { customer: email, limits: { writesPerMinute: 1 }, actor: 'test' });
    const write = (secret: string) => ask({ method: 'POST', path: `/keys/${busy.key.id}/deactivate`, body: { version: 'x' }, secret });
    expect([(await write(busy.token.secret)).statusCode, (await write(second.secret)).statusCode]).toEqual([409, 429]);
    const page = await dashboard.ask({ method: 'POST', path: '/api/alerts/read', body: {}, cookie: busy.cookie });
    const wait = Number(page.headers['retry-after']);
    expect([page.statusCode, wait > 0, wait <= 60]).toEqual([429, true, true]);
    expect((await ask({ path: '/keys', secret: second.secret })).statusCode).toBe(200);
  });

  it('reads for a customer whom the seller suspended, and changes nothing that could not be taken away', async () => {
    const email = 'unpaid@example.com';
    const unpaid = await makeBelongings(dashboard, email);
    await suspendCustomer(dashboard.pool, { customer: email, reason: 'unpaid since August', actor: 'cli' });
    const { secret } = unpaid.token;
    const call = async (name: EndpointName) => {
      const [{ method, path }, sample] = [partsOf(name), await MANAGEMENT.sampleOf(name, unpaid)];
      return ask({ method, path: fill(path, sample), body: sample.body, secret });
    };
    for (const name of ['GET /keys', 'POST /keys/:id/simulate'] as const) expect((await call(name)).statusCode).toBe(200);
    const changes = managementOperations.filter(
      ({ name, endpoint }) => !name.startsWith('GET') && !endpoint.isRead && !endpoint.whileSuspended,
    );
    await keepsEverything(dashboard.pool, async () => {
      for (const { name } of changes) expect([name, verdict(await call(name))]).toEqual([name, '403 customer_suspended']);
    });
  });
});

describe('the seller’s API', () => {
  const askAs = programAsks(dashboard, '/api/seller');
  const ask = (wish: ProgramAsk) => askAs({ secret: sellerToken.secret, ...wish });

  it('reaches no account, node, invoice, audit log or token, and one customer’s things through nobody else', async () => {
    const origins = sellerOperations.map(({ origin }) => origin).join('\n');
    for (const closed of ['/tokens', '/audit', '/nodes', '/invoices', '/account', '/team', '/webhooks', '/try', '/billing', '/session'])
      expect(origins).not.toContain(closed);
    const other = await customerOf(await makeBelongings(dashboard));
    for (const { name, origin } of sellerOperations.filter((each) => each.name.includes('/:customer/')))
      for (const customer of origin.includes(':') ? [other, NOBODY] : [NOBODY]) {
        const sample = await SELLER.sampleOf(origin, own);
        const { method, path } = partsOf(name);
        const wish = { method, path: fill(path, { ...sample, params: { ...sample.params, customer } }), body: sample.body };
        await keepsEverything(dashboard.pool, async () => {
          expect([name, customer, (await ask(wish)).statusCode]).toEqual([name, customer, 404]);
        });
      }
  });

  it('is closed to tokens of somebody who is no operator any more', async () => {
    const leaver = await makeOperator(dashboard, 'leaver@tollgate.test');
    const orphan = await makeSellerToken(dashboard, leaver.cookie);
    const list = async () => verdict(await ask({ path: '/customers', secret: orphan.secret }));
    expect(await list()).toBe('200');
    await removeOperator(dashboard.pool, { email: 'leaver@tollgate.test', actor: 'test' });
    expect(await list()).toBe('401 token_not_valid');
  });

  it('does what it is asked once for an idempotency key, however often it is asked', async () => {
    const headers = { 'idempotency-key': randomUUID() };
    const create = (body: object) => ask({ method: 'POST', path: '/customers', body, headers });
    const made = (await create({ email: 'once@example.com' })).json();
    expect((await create({ email: 'once@example.com' })).json()).toMatchObject({ status: 409, code: 'already_done', id: made.id });
    const key = { 'idempotency-key': randomUUID() };
    const issue = () =>
      ask({ method: 'POST', path: `/customers/${made.id}/keys`, body: { mode: 'test', products: ['api-ip'] }, headers: key });
    const first = await issue();
    expect(first.json().secret).toMatch(/^tg_test_/);
    expect((await issue()).json()).toMatchObject({ code: 'already_done', id: first.json().key.id });
  });

  it('gives plans without being asked, is not held up by the customer’s own limits, and stands in both audit logs', async () => {
    const owner = await makeBelongings(dashboard, 'given@example.com');
    const id = await customerOf(owner);
    await setCustomerLimits(dashboard.pool, { customer: 'given@example.com', limits: { writesPerMinute: 1 }, actor: 'test' });
    await dashboard.pool.query("UPDATE plan SET approval = 'request' WHERE product_id = 'api-pincode' AND name = 'Star'");
    await dashboard.pool.query('UPDATE catalogue_revision SET revision = revision + 1');
    const given = await ask({ method: 'POST', path: `/customers/${id}/subscriptions`, body: { product: 'api-pincode', plan: 'Star' } });
    expect([given.statusCode, given.json().plan]).toEqual([200, 'Star']);
    for (const reason of ['unpaid', null])
      expect((await ask({ method: 'POST', path: '/suspensions', body: { kind: 'customer', id, reason } })).statusCode).toBe(204);
    const { entries } = (await dashboard.ask({ path: `/api/operator/audit?customer=${id}`, cookie: operator })).json();
    expect(entries[0]).toMatchObject({ action: 'customer.restore', actor: 'operator:ops@tollgate.test (token back end)' });
    expect((await dashboard.ask({ path: '/api/audit', cookie: owner.cookie })).body).not.toContain('ops@tollgate.test');
  });
});

it.each(['management', 'seller'])(
  'a program of the %s API does not subscribe by way of a key with the scope for keys alone',
  async (kind) => {
    const { make, prefix } = kind === 'seller' ? SELLER : MANAGEMENT;
    const { secret } = await make(['keys:write']);
    const path = kind === 'seller' ? `/customers/${await customerOf(own)}/keys` : '/keys';
    const ask = (wish: ProgramAsk) => programAsks(dashboard, prefix)({ secret, ...wish });
    const create = (products: readonly string[]) =>
      ask({ method: 'POST', path, body: { submission: randomUUID(), mode: 'test', products } });
    const change = { version: own.key.version, products: ['api-ip', 'api-seo'], subscribes: true };
    await ask({ path });
    await keepsEverything(dashboard.pool, async () => {
      expect(verdict(await create(['api-ip', 'api-seo']))).toBe('403 scope_missing');
      expect(verdict(await ask({ method: 'PATCH', path: `${path}/${own.key.id}`, body: change }))).toBe('403 scope_missing');
    });
    expect((await create(['api-ip'])).statusCode).toBe(200);
  },
);
