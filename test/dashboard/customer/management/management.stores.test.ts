import { randomUUID } from 'node:crypto';
import { generateAdminToken } from '../../../../plugins/core/access/api-key';
import { setCustomerLimits } from '../../../../services/selling/customers/customer-limits';
import { suspendCustomer } from '../../../../services/selling/suspensions/suspend';
import { endpointsFor } from '../../../../services/dashboard/contract/endpoints';
import { managementOperations } from '../../../../services/dashboard/customer/management/management-document';
import { partsOf } from '../../../../services/dashboard/contract/endpoint';
import { SCOPES } from '../../../../services/dashboard/contract/fields';
import { ORIGIN, useDashboard, verdict } from '../../support/dashboard';
import {
  type Belongings,
  fillPath,
  makeBelongings,
  makeToken,
  digestEverything,
  keepsEverything,
  type Sample,
  samples,
} from '../../support/endpoint-samples';
import { rowsAbout } from '../../support/own-rows';
import { PROGRAM_SAMPLES, type ProgramAsk, programAsks } from '../../support/program-asks';
import { checkOpenApi } from '../../../support/openapi/check-openapi';

const endpoints = endpointsFor('members');

const dashboard = useDashboard();
let own: Belongings;
beforeAll(async () => {
  own = await makeBelongings(dashboard, 'own@example.com');
  await setCustomerLimits(dashboard.pool, { customer: 'own@example.com', limits: { writesPerMinute: 100_000 }, actor: 'test' });
});
// Hundreds of requests follow, within a minute.
const forgetAttempts = () => dashboard.pool.query("DELETE FROM auth_rate_limit WHERE key LIKE 'management|%'");
beforeEach(async () => void (await forgetAttempts()));

const ask = programAsks(dashboard, '/api/v1');
const fill = (path: string, sample: Sample): string => fillPath(path, sample).slice('/api'.length);
const sampleOf = (name: string, whose: Belongings): Sample => samples[name]?.(whose) ?? PROGRAM_SAMPLES[name]?.() ?? {};
const operations = managementOperations.map((operation) => ({
  ...operation.endpoint,
  ...operation,
  ...partsOf(operation.name),
}));
const walk = operations.map(({ name }) => name);
function find(name: string): (typeof operations)[number] {
  const found = operations.find((each) => each.name === name);
  if (!found) throw new Error(`no operation ${name}`);
  return found;
}
const request = (name: string, whose: Belongings, secret?: string): ProgramAsk => {
  const { method, path } = find(name);
  const sample = sampleOf(name, whose);
  return { method, path: fill(path, sample), body: sample.body, secret };
};

describe('with a token of the management API', () => {
  it.each(walk)('its owner does what the pages do: %s', async (name) => {
    // What is read stays as it is for the next.
    const owner = name.startsWith('GET ') ? own : await makeBelongings(dashboard);
    const answer = await ask(request(name, owner, owner.token.secret));
    expect([answer.statusCode, answer.body]).toEqual([200, expect.any(String)]);
    const { answer: shape } = find(name);
    if (shape) expect(shape.safeParse(answer.json()).error).toBeUndefined();
  });

  it('without the scope each is refused and nothing is done', async () => {
    // A token without the scopes of an operation, by them.
    const small = new Map<string, string>();
    for (const { scopes } of operations) {
      if (small.has(scopes.join())) continue;
      const others = SCOPES.filter((each) => !scopes.includes(each));
      const { secret } = await makeToken(dashboard, own.cookie, others);
      await ask({ path: '/keys', secret });
      small.set(scopes.join(), secret);
    }
    await keepsEverything(dashboard.pool, async () => {
      for (const name of walk) {
        const { scopes } = find(name);
        const answer = await ask(request(name, own, small.get(scopes.join())));
        const refusal = expect.objectContaining({ code: 'scope_missing', scopes });
        expect([name, answer.statusCode, answer.json()]).toEqual([name, 403, refusal]);
      }
    });
  });

  it('accounts, sessions, tokens, audit log, webhooks and trying out are not reached', async () => {
    const reached = operations.map(({ name }) => name);
    const others = endpoints.filter(({ method, path }) => !reached.includes(`${method} ${path}`));
    expect(others.map(({ path }) => path)).toEqual(
      expect.arrayContaining(['/session', '/tokens', '/tokens/:id/revoke', '/audit', '/webhooks', '/try']),
    );
    const before = await digestEverything(dashboard.pool);
    for (const { method, path } of [
      ...others,
      { method: 'POST', path: '/auth/change-password' },
      { method: 'GET', path: '/auth/get-session' },
    ] as const) {
      const sample = samples[`${method} ${path}`]?.(own) ?? {};
      const answer = await ask({ method, path: fill(path, sample), body: sample.body, secret: own.token.secret });
      expect([path, answer.statusCode]).toEqual([path, 404]);
    }
    expect(await digestEverything(dashboard.pool)).toEqual(before);
  });

  it('the paths of the pages are closed to it', async () => {
    const headers = { authorization: `Bearer ${own.token.secret}` };
    for (const name of walk) {
      const { method, path, body } = request(name, own);
      const answer = await dashboard.ask({ method: method ?? 'GET', path: `/api${path}`, body, headers });
      expect([name, verdict(answer)]).toEqual([name, '401 not_signed_in']);
    }
  });
});

describe('a token that is none', () => {
  const refused = async (name: string, secret: string | undefined, headers: Readonly<Record<string, string>> = {}) => {
    const answer = await ask({ ...request(name, own, secret), headers });
    expect(answer.headers['www-authenticate']).toMatch(/^Bearer /);
    expect(answer.headers['content-type']).toMatch('application/problem+json');
    return verdict(answer);
  };

  it('is refused by every operation, and nothing is done', async () => {
    const { secret } = own.token;
    const garbage = [generateAdminToken(), 'tg_admin_x', own.secret, `${secret}x`, secret.toLowerCase(), 'a'.repeat(9_000)];
    await keepsEverything(dashboard.pool, async () => {
      for (const name of walk) {
        expect([name, await refused(name, undefined)]).toEqual([name, '401 token_missing']);
        expect(await refused(name, undefined, { cookie: own.cookie, origin: ORIGIN })).toBe('401 token_missing');
        for (const each of garbage) expect([name, await refused(name, each)]).toEqual([name, '401 token_not_valid']);
        await forgetAttempts();
      }
    });
  });

  it('is one that was revoked, from the next request on', async () => {
    const token = await makeToken(dashboard, own.cookie);
    expect((await ask({ path: '/keys', secret: token.secret })).statusCode).toBe(200);
    const revoked = await dashboard.ask({ method: 'POST', path: `/api/tokens/${token.id}/revoke`, cookie: own.cookie, body: {} });
    expect(revoked.json()).toMatchObject({ id: token.id, state: 'revoked' });
    expect(await refused('GET /keys', token.secret)).toBe('401 token_not_valid');
  });

  it('is one that has expired', async () => {
    const token = await makeToken(dashboard, own.cookie);
    await dashboard.pool.query(
      "UPDATE admin_token SET created_at = created_at - interval '91 days', expires_at = expires_at - interval '91 days' WHERE id = $1",
      [token.id],
    );
    expect(await refused('GET /keys', token.secret)).toBe('401 token_expired');
  });
});

describe('tokens', () => {
  const make = (body: object) =>
    dashboard.ask({
      method: 'POST',
      path: '/api/tokens',
      cookie: own.cookie,
      body: { submission: randomUUID(), name: 'n', scopes: ['keys:read'], ...body },
    });

  it('live 90 days unless told otherwise, and 400 at most', async () => {
    const days = async (body: object): Promise<number> => {
      const { token } = (await make(body)).json();
      return (Date.parse(token.expiresAt) - Date.parse(token.createdAt)) / 86_400_000;
    };
    expect([await days({}), await days({ days: 400 })]).toEqual([90, 400]);
    expect((await make({ days: 401 })).statusCode).toBe(400);
    const longer = dashboard.pool.query("UPDATE admin_token SET expires_at = created_at + interval '401 days'");
    await expect(longer).rejects.toThrow('admin_token_check');
  });

  it('are made once however often their form is sent, and twenty at most are in use', async () => {
    const cookie = await dashboard.signIn();
    const body = { submission: randomUUID(), name: 'n', scopes: ['keys:read'] };
    const send = (extra: object) => dashboard.ask({ method: 'POST', path: '/api/tokens', cookie, body: { ...body, ...extra } });
    expect([(await send({})).statusCode, (await send({})).json().code]).toEqual([200, 'already_done']);
    for (let count = 1; count < 20; count++) expect((await send({ submission: randomUUID() })).statusCode).toBe(200);
    expect((await send({ submission: randomUUID() })).json().code).toBe('token_limit_reached');
  });

  it('are refused with a scope that there is not, or without any', async () => {
    for (const scopes of [['keys:everything'], [], 'keys:read']) expect((await make({ scopes })).statusCode).toBe(400);
  });

  it('are in one answer, in no log and nowhere in the database', async () => {
    const { secret } = (await make({})).json();
    await ask({ path: '/keys', secret });
    await ask({ path: `/keys/${secret}`, secret });
    await ask({ path: `/keys?search=${secret}`, secret });
    await ask({ method: 'POST', path: '/nothing', secret, body: { secret } });
    await dashboard.ask({ path: '/api/keys', headers: { authorization: `Bearer ${secret}` } });
    const listed = await dashboard.ask({ path: '/api/tokens', cookie: own.cookie });
    expect(listed.body).not.toContain(secret);
    expect(dashboard.log()).not.toContain(secret);
    expect(await rowsAbout(dashboard.pool, [secret])).toEqual({});
  });

  it('tell when they were used last, and the audit log names them', async () => {
    const owner = await makeBelongings(dashboard);
    const mine = async () => (await dashboard.ask({ path: '/api/tokens', cookie: owner.cookie })).json().tokens[0];
    expect((await mine()).lastUsedAt).toBeNull();
    await ask(request('POST /keys/:id/revoke', owner, owner.token.secret));
    expect((await mine()).lastUsedAt).not.toBeNull();
    const { entries } = (await dashboard.ask({ path: '/api/audit', cookie: owner.cookie })).json();
    expect(entries[0]).toMatchObject({ action: 'key.revoke', actor: 'token “deploy”', from: '127.0.0.1' });
    expect(entries.map(({ action }: { action: string }) => action)).toContain('token.create');
  });
});

describe('what a token may not get around', () => {
  it('the changes a minute of its customer, which count together', async () => {
    const email = 'busy@example.com';
    const busy = await makeBelongings(dashboard, email);
    await dashboard.pool.query("DELETE FROM auth_rate_limit WHERE key LIKE 'write|%'");
    await setCustomerLimits(dashboard.pool, { customer: email, limits: { writesPerMinute: 2 }, actor: 'test' });
    const write = (secret: string) => ask({ method: 'POST', path: `/keys/${busy.key.id}/deactivate`, body: { version: 'x' }, secret });
    const second = await makeToken(dashboard, busy.cookie);
    const codes = [(await write(busy.token.secret)).statusCode, (await write(second.secret)).statusCode];
    expect(codes).toEqual([409, 429]);
    const page = await dashboard.ask({ method: 'POST', path: '/api/alerts/read', body: {}, cookie: busy.cookie });
    expect([page.statusCode, Number(page.headers['retry-after']) > 0]).toEqual([429, true]);
    expect((await ask({ path: '/keys', secret: second.secret })).statusCode).toBe(200);
  });

  it('600 requests a minute', async () => {
    const { rows } = await dashboard.pool.query('SELECT customer_id FROM admin_token WHERE id = $1', [own.token.id]);
    await ask({ path: '/keys', secret: own.token.secret });
    await dashboard.pool.query('UPDATE auth_rate_limit SET count = 599 WHERE key = $1', [`management|${rows[0].customer_id}`]);
    const statuses = [];
    for (let count = 0; count < 3; count++) statuses.push((await ask({ path: '/keys', secret: own.token.secret })).statusCode);
    expect(statuses).toEqual([200, 429, 429]);
  });

  it('a suspension by the seller: it reads, and changes nothing that it could not take away', async () => {
    const email = 'unpaid@example.com';
    const unpaid = await makeBelongings(dashboard, email);
    await suspendCustomer(dashboard.pool, { customer: email, reason: 'unpaid since August', actor: 'cli' });
    expect((await ask({ path: '/keys', secret: unpaid.token.secret })).statusCode).toBe(200);
    expect((await ask(request('POST /keys/:id/simulate', unpaid, unpaid.token.secret))).statusCode).toBe(200);
    const before = await digestEverything(dashboard.pool);
    for (const { name, method } of operations.filter((each) => each.method !== 'GET' && !each.isRead && !each.endpoint.whileSuspended)) {
      const answer = await ask(request(name, unpaid, unpaid.token.secret));
      expect([method, answer.statusCode, answer.json().code]).toEqual([method, 403, 'customer_suspended']);
      expect(answer.json().detail).toBe('The seller suspended this account: unpaid since August.');
    }
    expect(await digestEverything(dashboard.pool)).toEqual(before);
  });

  it('subscribing by way of a key, with the scope for keys alone', async () => {
    const owner = await makeBelongings(dashboard);
    const { secret } = await makeToken(dashboard, owner.cookie, ['keys:write', 'keys:read']);
    await ask({ path: '/keys', secret });
    const before = await digestEverything(dashboard.pool);
    const create = (body: object) =>
      ask({ method: 'POST', path: '/keys', secret, body: { submission: randomUUID(), mode: 'test', ...body } });
    const change = { version: owner.key.version, products: ['api-ip', 'api-pincode'], subscribes: true };
    const changed = await ask({ method: 'PATCH', path: `/keys/${owner.key.id}`, secret, body: change });
    for (const each of [changed, await create({ products: ['api-ip', 'api-pincode'] })]) expect(verdict(each)).toBe('403 scope_missing');
    expect(await digestEverything(dashboard.pool)).toEqual(before);
    expect((await create({ products: ['api-ip'] })).statusCode).toBe(200);
  });
});

describe('/api/v1/openapi.json', () => {
  it('is for everybody, valid, and has every operation with its scope', async () => {
    const answer = await ask({ path: '/openapi.json' });
    const document = answer.json();
    expect([answer.statusCode, document.servers]).toEqual([200, [{ url: `${ORIGIN}/api/v1` }]]);
    await checkOpenApi(document);
    for (const { method, path, scopes } of operations) {
      const described = document.paths[path.replace(/:(\w+)/g, '{$1}')]?.[method.toLowerCase()];
      for (const scope of scopes) expect(described?.description).toContain(scope);
      expect(Object.keys(described.responses)).toEqual(expect.arrayContaining(['200', '400', '401', '403', '429']));
    }
  });
});
