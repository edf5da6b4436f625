import { once } from 'node:events';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { eventually } from '../../support/eventually';
import { startDashboard, tokenOf, useDashboard, verdict } from '../support/dashboard';
import { randomUUID } from 'node:crypto';
import { endpointsFor } from '../../../services/dashboard/contract/endpoints';
import { setCustomerLimits } from '../../../services/selling/customers/customer-limits';
import { startGatewayDouble } from '../support/gateway-double';
import { type Belongings, fillPath, isPrinted, makeBelongings, samples } from '../support/endpoint-samples';
import { fc } from '../../support/fast-check';
import { createKey } from '../../../services/selling/keys/create-key';
import { replaceKeyRules } from '../../../services/selling/keys/whitelist-rules';
import { openedForTests } from '../../support/opened';
import { runsEveryScene } from '../../support/scenes';

const endpoints = endpointsFor('members').filter((each) => !isPrinted(each));
const dashboard = useDashboard({
  webFiles: { 'index.html': '<!doctype html><title>Tollgate</title>', 'assets/main-abc123.js': '' },
});

describe('the server', () => {
  beforeAll(() => dashboard.app.listen({ host: '127.0.0.1', port: 0 }));

  async function open(): Promise<Socket> {
    const socket = connect((dashboard.app.server.address() as AddressInfo).port, '127.0.0.1');
    await once(socket, 'connect');
    return socket;
  }

  /** The answer to a request line as it stands: clients would tidy the path up. */
  async function answerTo(path: string): Promise<string> {
    const socket = await open();
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += String(chunk)));
    socket.write(`GET ${path} HTTP/1.1\r\nHost: dashboard.test\r\nConnection: close\r\n\r\n`);
    await once(socket, 'close');
    return text;
  }

  describe('a path that names no page', () => {
    it.each([
      ['parent folders', '/../x'],
      ['two slashes', '//x'],
      ['U+0000 in a file name', '/assets/%00.js'],
      ['a broken escape', '/%zz'],
      ['9 KB', `/${'a'.repeat(9_000)}`],
      ['a backslash', '/\\x'],
    ])('is 400 or 404, and nothing for the log of errors: %s', async (_what, path) => {
      const before = dashboard.log().length;
      expect(await answerTo(path)).toMatch(/^HTTP\/1\.1 40[04] /);
      expect(dashboard.log().slice(before)).not.toMatch(/"level":"(error|warn)"/);
    });
  });

  describe('a form that is closed while it is being sent', () => {
    it('is no error in the log, nor a failure in the figures', async () => {
      const before = dashboard.log().length;
      const lines = () => dashboard.log().slice(before);
      const socket = await open();
      const headers = ['Host: dashboard.test', 'Origin: http://dashboard.test', 'Content-Type: application/json', 'Content-Length: 500'];
      socket.write(`POST /api/auth/sign-in/email HTTP/1.1\r\n${headers.join('\r\n')}\r\n\r\n{"email":`);
      await new Promise((done) => setTimeout(done, 50));
      socket.destroy();
      await eventually(() => lines().includes('the client broke off its request'));
      expect(lines()).not.toMatch(/"level":"(error|warn)"/);
      expect(lines()).not.toContain('"status":500');
    });
  });
});

describe('whatever is sent', () => {
  const EMAIL = 'fuzzer@example.com';
  let own: Belongings;
  const opened = openedForTests();
  const gateway = opened.use(startGatewayDouble);
  const dashboard = opened.use(() => startDashboard({ gatewayUrl: gateway.url }));
  beforeAll(async () => {
    own = await makeBelongings(dashboard, EMAIL);
    // Hundreds of changes follow, within a minute.
    await setCustomerLimits(dashboard.pool, { customer: EMAIL, limits: { writesPerMinute: 100_000 }, actor: 'test' });
  });

  /** For each of more than a hundred endpoints, whose bodies and queries one kind of code reads. */
  const RUNS = runsEveryScene ? 30 : 4;
  const FILTERS = ['product', 'outcome', 'status', 'method', 'path', 'slowerThanMs', 'by'];
  const QUERIES = ['limit', 'after', 'search', 'state', 'from', 'to', 'key', 'id', ...FILTERS];
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
    '../../..',
    ...['admitted', '5xx', '/\0', 'hour', '2026-01-01', '2026-01-01T00:00:00Z'],
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

  it.each(endpoints)('$name never answers 5xx', async ({ name, method, path }) => {
    const sample = samples[name]?.(own) ?? {};
    const valid = sample.body ?? { submission: randomUUID(), mode: 'test', products: ['api-ip'], product: 'api-ip', plan: null };
    await fc.assert(
      fc.asyncProperty(
        bodiesLike(valid),
        fc.dictionary(fc.constantFrom(...QUERIES), value),
        fc.boolean(),
        async (body, query, keepParams) => {
          const params = keepParams
            ? sample.params
            : { id: new URLSearchParams({ id: asText(Object.values(query)[0]) }).toString().slice('id='.length) };
          const text = asQuery(query);
          const answer = await dashboard.ask({
            method,
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

  const others = [...endpointsFor('everybody'), ...endpointsFor('persons'), ...endpointsFor('accounts')];
  it.each(others)('$name never answers 5xx', async ({ method, path, for: audience }) => {
    const valid = {
      email: 'x@example.com',
      password: 'a long password',
      token: path === '/auth/verify-email' ? tokenOf(dashboard.mails[0]) : 'x',
      newPassword: 'another long password',
      callbackURL: '/',
    };
    const cookie = audience === 'everybody' ? undefined : own.cookie;
    await fc.assert(
      fc.asyncProperty(
        bodiesLike(valid),
        fc.dictionary(fc.constantFrom('token', 'callbackURL', 'disableRefresh'), value),
        async (body, query) => {
          const url = `${fillPath(path, { query: asQuery(query) })}`;
          const answer = await dashboard.ask({ method, path: url, cookie, ...(method !== 'GET' && { body }) });
          expect([answer.statusCode < 500, answer.body]).toEqual([true, answer.body]);
        },
      ),
      { numRuns: RUNS },
    );
  });

  it.each([
    ['no JSON', '{"version":'],
    ['a prototype', '{"__proto__":{"version":"x"}}'],
  ])('%s as a body is 400', async (_what, payload) => {
    const headers = { origin: 'http://dashboard.test', 'content-type': 'application/json', cookie: own.cookie };
    expect(verdict(await dashboard.app.inject({ method: 'POST', url: `/api/keys/${own.key.id}/deactivate`, headers, payload }))).toBe(
      '400 invalid_request',
    );
  });

  it.each(['/api/auth/sign-in/email', '/api/auth/verify-email', '/api/keys'])('is 400 when it is nested without end: %s', async (path) => {
    const deep = `{"email":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const headers = { origin: 'http://dashboard.test', 'content-type': 'application/json', cookie: own.cookie };
    const answer = await dashboard.app.inject({ method: 'POST', url: path, headers, payload: deep });
    expect([answer.statusCode, answer.json().errors]).toEqual([400, [{ field: 'request', message: expect.stringContaining('nested') }]]);
  });
});

describe('large answers', () => {
  /** A twentieth of what a key may have, as long as they may be: more than a page of a list may come to. */
  const MANY = 500;
  const rulesOf = (letter: string): string[] => {
    const label = letter.repeat(60);
    return Array.from({ length: MANY }, (_, index) => `r${index}.${label}.${label}.${label}.example.com`);
  };
  const A_PAGE_BYTES = 64 * 1024;

  let cookie: string;
  let keyIds: string[];
  beforeAll(async () => {
    cookie = await dashboard.signIn('many-rules@example.com');
    const { customerId: customer } = (await dashboard.ask({ path: '/api/session', cookie })).json();
    keyIds = [];
    for (const letter of ['a', 'b']) {
      const { id } = await createKey(dashboard.pool, { customer, products: ['api-ip'], rules: rulesOf(letter), actor: 'cli' });
      await replaceKeyRules(dashboard.pool, { id, rules: rulesOf('c'), actor: 'cli' });
      keyIds.push(id);
    }
  });

  it('of very many rules on each key: lists of keys and of the audit log stay small, and a key’s own page has them all', async () => {
    const get = (path: string) => dashboard.ask({ path, cookie });
    const list = await get('/api/keys?limit=100');
    expect(list.json().keys.map(({ id }: { id: string }) => id)).toEqual(expect.arrayContaining(keyIds));
    for (const { body } of [list, await get('/api/audit?limit=100')]) expect(body.length).toBeLessThan(A_PAGE_BYTES);
    expect((await get(`/api/keys/${keyIds[0]}`)).json().rules).toHaveLength(MANY);
  });
});
