import { randomUUID } from 'node:crypto';
import { endpointsFor } from '../../services/dashboard/contract/endpoints';
import { setCustomerLimits } from '../../plugins/stores/postgres/customers/customer-limits';
import { startDashboard, tokenOf, type TestDashboard } from './support/dashboard';
import { startGatewayDouble, type GatewayDouble } from './support/gateway-double';
import { type Belongings, fillPath, makeBelongings, samples } from './support/endpoint-samples';
import { fc } from '../support/fast-check';

const endpoints = endpointsFor('members');

const EMAIL = 'fuzzer@example.com';
let dashboard: TestDashboard;
let own: Belongings;
let gateway: GatewayDouble;
beforeAll(async () => {
  gateway = await startGatewayDouble();
  dashboard = await startDashboard({ gatewayUrl: gateway.url });
  own = await makeBelongings(dashboard, EMAIL);
  // Hundreds of changes follow, within a minute.
  await setCustomerLimits(dashboard.pool, { customer: EMAIL, limits: { writesPerMinute: 100_000 }, actor: 'test' });
});
afterAll(async () => {
  await dashboard.close();
  await gateway.close();
});

const RUNS = 30;
const nasty = fc.constantFrom(
  '',
  '\0',
  'a\0b',
  '\ud800',
  '’; DROP TABLE credential',
  '<script>',
  '🚀',
  '__proto__',
  '0',
  '-1',
  '1e400',
  '9'.repeat(400),
  '%',
  '../..',
);
/** What a server that trusted it would stumble over when it turns it into text. */
const noText = fc.constantFrom({ toString: false }, { valueOf: null, toString: null }, { toJSON: 1 }, [{ toString: 'x' }]);
const value = fc.oneof(
  nasty,
  noText,
  fc.jsonValue({ maxDepth: 2 }),
  fc.double(),
  fc.integer(),
  fc.uuid(),
  fc.date({ noInvalidDate: false }).map(String),
);

/** Objects as JSON: their own text may be anything, or none at all. */
const asText = (each: unknown): string => (typeof each === 'object' ? JSON.stringify(each) : String(each));

const asQuery = (query: Record<string, unknown>): string =>
  new URLSearchParams(Object.fromEntries(Object.entries(query).map(([name, each]) => [name, asText(each)]))).toString();

/** A valid body with some of its members replaced, and now and then something else altogether. */
function bodiesLike(valid: unknown): fc.Arbitrary<unknown> {
  const members = typeof valid === 'object' && valid !== null ? valid : {};
  const names = [...Object.keys(members), 'rules', 'products', 'name', 'expiresAt', 'search'];
  const changed = fc.dictionary(fc.constantFrom(...names), value).map((changes) => ({ ...members, ...changes }));
  return fc.oneof({ weight: 4, arbitrary: changed }, { weight: 1, arbitrary: value });
}

describe('whatever is sent', () => {
  it.each(endpoints.map(({ method, path }) => [method, path] as const))('%s %s never answers 5xx', async (method, path) => {
    const endpoint = endpoints.find((each) => each.method === method && each.path === path);
    const sample = samples[`${method} ${path}`]?.(own) ?? {};
    const valid = sample.body ?? { submission: randomUUID(), mode: 'test', products: ['api-ip'], product: 'api-ip', plan: null };
    await fc.assert(
      fc.asyncProperty(
        bodiesLike(valid),
        fc.dictionary(fc.constantFrom('limit', 'after', 'search', 'state', 'from', 'to', 'key', 'id'), value),
        fc.boolean(),
        async (body, query, keepParams) => {
          const params = keepParams
            ? sample.params
            : { id: new URLSearchParams({ id: asText(Object.values(query)[0]) }).toString().slice('id='.length) };
          const text = asQuery(query);
          const answer = await dashboard.ask({
            method: endpoint?.method ?? 'GET',
            cookie: own.cookie,
            path: fillPath(path, { ...(params && { params }), query: text }),
            ...(method !== 'GET' && { body }),
          });
          expect([answer.statusCode < 500, answer.body]).toEqual([true, answer.body]);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it.each(endpointsFor('everybody').map(({ method, path }) => [method, path] as const))('%s %s never answers 5xx', async (method, path) => {
    const valid = {
      email: 'x@example.com',
      password: 'a long password',
      token: path === '/auth/verify-email' ? tokenOf(dashboard.mails[0]) : 'x',
      newPassword: 'another long password',
      callbackURL: '/',
    };
    await fc.assert(
      fc.asyncProperty(
        bodiesLike(valid),
        fc.dictionary(fc.constantFrom('token', 'callbackURL', 'disableRefresh'), value),
        async (body, query) => {
          const text = asQuery(query);
          const answer = await dashboard.ask({ method, path: `/api${path}?${text}`, ...(method !== 'GET' && { body }) });
          expect([answer.statusCode < 500, answer.body]).toEqual([true, answer.body]);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it.each([
    ['no JSON', '{"version":'],
    ['a list', '[]'],
    ['a prototype', '{"__proto__":{"version":"x"}}'],
    ['nothing', ''],
  ])('%s as a body is 400', async (_what, payload) => {
    const headers = { origin: 'http://dashboard.test', 'content-type': 'application/json', cookie: own.cookie };
    const answer = await dashboard.app.inject({ method: 'POST', url: `/api/keys/${own.key.id}/deactivate`, headers, payload });
    expect([answer.statusCode, answer.json().code]).toEqual([400, 'invalid_request']);
  });

  it.each(['/api/auth/sign-in/email', '/api/auth/verify-email', '/api/keys'])('is 400 when it is nested without end: %s', async (path) => {
    const deep = `{"email":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const headers = { origin: 'http://dashboard.test', 'content-type': 'application/json', cookie: own.cookie };
    const answer = await dashboard.app.inject({ method: 'POST', url: path, headers, payload: deep });
    expect([answer.statusCode, answer.json().errors]).toEqual([400, [{ field: 'request', message: expect.stringContaining('nested') }]]);
  });

  it('is not answered by a page where the API has nothing', async () => {
    const answer = await dashboard.ask({ path: '/api/nothing', cookie: own.cookie });
    expect([answer.statusCode, answer.json().code]).toEqual([404, 'route_unknown']);
  });

  it('comes back as it was given when it is a name', async () => {
    for (const name of ['<img src=x onerror=alert(1)>', '🚀👩‍👩‍👧', '"quoted" & \\back', 'ערב טוב', 'a'.repeat(100)]) {
      const { key } = (
        await dashboard.ask({
          method: 'POST',
          path: '/api/keys',
          cookie: own.cookie,
          body: { submission: randomUUID(), mode: 'test', products: ['api-ip'], name },
        })
      ).json();
      expect(key.name).toBe(name);
    }
  });
});
