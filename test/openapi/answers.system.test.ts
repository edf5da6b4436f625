import { request as httpRequest } from 'node:http';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import { parse } from 'yaml';
import { readFileSync } from 'node:fs';
import { AS_KONG_READS } from '../../kong/as-kong-reads';
import { startGateway } from '../gateway/support/test-gateway';
import { listErrors } from '../../services/openapi/error-table';
import { PRODUCTS } from '../support/catalogue';
import { type Reply, send, type Sending } from '../support/http';
import { type DescribedOperation, DocumentedApi } from '../support/openapi/documented-api';
import { type Installation, openInstallation } from '../acceptance/installation';

const offered = PRODUCTS.filter(({ routes }) => routes.length > 0).map(({ id }) => id);
const MIB = 1_048_576;
const CODES = listErrors();
const FROM_BEFORE = 'from the step before';

interface Operation extends DescribedOperation {
  readonly method: string;
  readonly path: string;
}

let tollgate: Installation;
let api: DocumentedApi;
let operations: readonly Operation[];
let testKey: string;

beforeAll(async () => {
  tollgate = await openInstallation();
  api = new DocumentedApi((await send(`${tollgate.gatewayUrl}/openapi.json`)).json());
  operations = Object.entries(api.document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, path, method: method.toUpperCase() })),
  );
  testKey = (await tollgate.createKey({ products: offered, mode: 'test' })).key;
});
afterAll(() => tollgate.close());

/** Sends a request and holds the answer against the document. */
async function ask(method: string, target: string, { headers = {}, body }: Omit<Sending, 'method'> = {}): Promise<Reply> {
  return hold(method, target, await send(tollgate.gatewayUrl + target, { method, headers, ...(body !== undefined && { body }) }));
}

/** Holds an answer against the document. */
function hold(method: string, target: string, reply: Reply): Reply {
  const url = target.replace(/\?.*$/s, '');
  const contradictions = api.contradictions({ ...reply, method, url, body: reply.text });
  expect([method, url, reply.status, contradictions]).toEqual([method, url, reply.status, []]);
  expect(reply.headers['x-kong-request-id']).toBeDefined();
  if (reply.status >= 400) holdAgainstCodes(reply);
  return reply;
}

/** What the pages of codes say of a refusal: its title, and that it costs nothing where nothing is taken. */
function holdAgainstCodes(reply: Reply): void {
  const { status } = reply;
  const { code: name, title } = reply.json() as { code: string; title: string };
  const failure = CODES.find((each) => each.code === name)?.failures.find((each) => each.status === status);
  const charged = Number(reply.headers['x-tollgate-charged'] ?? 0);
  const isGateways = name === 'gateway_error';
  expect([name, status, isGateways || title, failure?.charge !== 'not taken' || charged]).toEqual([
    name,
    status,
    isGateways || failure?.title,
    failure?.charge !== 'not taken' || 0,
  ]);
}

/** The answer to a body that is declared and not sent. */
function declareBody(target: string, headers: Readonly<Record<string, string>>, bytes: number): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const asked = httpRequest(
      tollgate.gatewayUrl + target,
      { method: 'POST', headers: { ...headers, 'Content-Length': bytes } },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          asked.destroy();
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            complete: true,
            json: () => JSON.parse(text) as unknown,
          });
        });
      },
    );
    asked.on('error', reject).flushHeaders();
  });
}

const code = (reply: Reply): unknown => [reply.status, (reply.json() as { code?: string }).code];

/** One answer of each operation to the same kind of request. */
async function askEach(those: readonly Operation[], request: (operation: Operation) => Omit<Sending, 'method'>): Promise<Set<string>> {
  const seen = new Set<string>();
  for (const operation of those) seen.add(JSON.stringify(code(await ask(operation.method, operation.path, request(operation)))));
  return seen;
}

const only = (...expected: (readonly [number, string])[]): Set<string> => new Set(expected.map((each) => JSON.stringify(each)));

/** The document's own example of an operation's input. */
function exampleRequest(
  { parameters = [], requestBody, 'x-exampleFile': file }: Operation,
  session: string | undefined,
): Omit<Sending, 'method'> & { query: string } {
  const value = (example: unknown): unknown => (example === FROM_BEFORE ? session : example);
  const given = parameters.flatMap(({ name, example }): [string, string][] =>
    example === undefined ? [] : [[name, String(value(example))]],
  );
  const query = given.length === 0 ? '' : `?${new URLSearchParams(given).toString()}`;
  const example = requestBody?.content['application/json']?.example as Record<string, unknown> | undefined;
  if (example) {
    const body = JSON.stringify(Object.fromEntries(Object.entries(example).map(([name, each]) => [name, value(each)])));
    return { query, headers: { 'Content-Type': 'application/json' }, body };
  }
  if (!file) return { query };
  const schema = requestBody?.content['multipart/form-data']?.schema as { properties: Record<string, { format?: string }> };
  const field = Object.entries(schema.properties).find(([, { format }]) => format === 'binary')?.[0] ?? '';
  const head = `--BB\r\nContent-Disposition: form-data; name="${field}"; filename="${file.filename}"\r\nContent-Type: ${file.contentType}\r\n\r\n`;
  const body = Buffer.concat([Buffer.from(head), Buffer.from(file.base64, 'base64'), Buffer.from('\r\n--BB--\r\n')]);
  return { query, headers: { 'Content-Type': 'multipart/form-data; boundary=BB' }, body };
}

/** What must be sent before a step of a session. */
const BEFORE: Readonly<Record<string, readonly string[]>> = {
  '/aadhaar/captcha': ['/aadhaar/start'],
  '/aadhaar/otp': ['/aadhaar/start', '/aadhaar/captcha'],
  '/gst/data': ['/gst/start'],
  '/gst/refresh_captcha': ['/gst/start'],
  '/api/v1/gst/refresh-captcha': ['/gst/start'],
};

async function sendExample(operation: Operation, session?: string): Promise<Reply> {
  const { query, headers = {}, ...rest } = exampleRequest(operation, session);
  return ask(operation.method, operation.path + query, {
    ...rest,
    headers: { ...(headers as Record<string, string>), 'X-API-Key': testKey },
  });
}

test('every operation takes the example that the document gives, and answers as it says', async () => {
  for (const operation of operations) {
    let session: string | undefined;
    for (const path of BEFORE[operation.path] ?? []) {
      const step = operations.find((each) => each.path === path);
      if (step) session = ((await sendExample(step, session)).json() as { sessionId?: string }).sessionId;
    }
    expect([operation.operationId, (await sendExample(operation, session)).status]).toEqual([operation.operationId, 200]);
  }
});

describe('a refusal that every operation can send is as the document says', () => {
  it('401, by its code', async () => {
    const expired = await tollgate.createKey({ products: offered, mode: 'test', expiresAt: new Date(Date.now() + 3_600_000) });
    await tollgate.keys.expire(expired.id, new Date(Date.now() - 1_000));
    const away = await tollgate.createKey({ products: offered, mode: 'test', allow: ['203.0.113.0/24'] });
    const bare = await tollgate.createKey({ products: offered, mode: 'test', subscribe: false });
    const foreign = await tollgate.createKey({ products: ['api-vahaan'], mode: 'test' });
    const paused = await tollgate.createKey({ products: offered, mode: 'test' });
    for (const { id } of paused.subscriptions) await tollgate.subscriptions.pause(id);
    const withKey = (key: string) => () => ({ headers: { 'X-API-Key': key } });
    expect(await askEach(operations, () => ({}))).toEqual(only([401, 'key_missing']));
    expect(await askEach(operations, withKey(`${testKey}x`))).toEqual(only([401, 'key_unknown']));
    expect(await askEach(operations, () => ({ headers: [['X-API-Key', testKey], ['X-API-Key', away.key]] }))).toEqual(only([401, 'ambiguous_key'])); // prettier-ignore
    expect(await askEach(operations, withKey(expired.key))).toEqual(only([401, 'key_expired']));
    expect(await askEach(operations, withKey(away.key))).toEqual(only([401, 'caller_not_whitelisted']));
    expect(await askEach(operations, withKey(bare.key))).toEqual(only([401, 'subscription_missing']));
    expect(await askEach(operations, withKey(paused.key))).toEqual(only([401, 'subscription_inactive']));
    expect(await askEach(operations.filter(({ tags }) => tags[0] !== 'api-vahaan'), withKey(foreign.key))).toEqual(only([401, 'product_not_authorised'])); // prettier-ignore
  });

  it('429, of the day and of the month', async () => {
    const spent = await tollgate.createKey({ products: offered, mode: 'test', daily: 0, monthly: 100 });
    const month = await tollgate.createKey({ products: offered, mode: 'test', daily: 100, monthly: 0 });
    expect(await askEach(operations, () => ({ headers: { 'X-API-Key': spent.key } }))).toEqual(only([429, 'quota_daily_exceeded']));
    expect(await askEach(operations, () => ({ headers: { 'X-API-Key': month.key } }))).toEqual(only([429, 'quota_monthly_exceeded']));
  });

  it('405 of every route that takes one method', async () => {
    const fixed = operations.filter(({ description = '' }) => !/^Takes every method/m.test(description));
    const others = fixed.filter(({ path }) => Object.keys(api.document.paths[path] ?? {}).length === 1);
    for (const { path, method } of others) {
      const reply = await ask(method === 'GET' ? 'POST' : 'GET', path, { headers: { 'X-API-Key': testKey } });
      expect([path, ...(code(reply) as unknown[])]).toEqual([path, 405, 'method_not_allowed']);
    }
    expect(others.length).toBeGreaterThan(15);
  });

  it('413, 415 and 400 or 422 of every route that reads a body', async () => {
    const headers = { 'X-API-Key': testKey };
    const bodies = operations.filter(({ requestBody }) => requestBody !== undefined);
    const plain = bodies.filter(({ path }) => path !== '/app/analyze');
    expect(await askEach(bodies, () => ({ headers: { ...headers, 'Content-Type': 'text/csv' }, body: 'a,b' }))).toEqual(only([415, 'media_type_unsupported'])); // prettier-ignore
    expect(await askEach(plain, () => ({ headers: { ...headers, 'Content-Type': 'application/json' }, body: '{"a":' }))).toEqual(only([400, 'invalid_request'])); // prettier-ignore
    const large = { ...headers, 'Content-Type': 'application/json' };
    // Pictures and packages may be larger.
    const body = Buffer.alloc(2 * 1_048_576 + 1, 32);
    const small = plain.filter(({ path, responses }) => path !== '/image/background_remover' && '413' in responses);
    expect(await askEach(small, () => ({ headers: large, body }))).toEqual(only([413, 'payload_too_large'])); // prettier-ignore
    expect(bodies.length).toBeGreaterThan(20);
  });

  it('413 of what is larger than a picture, a package or the gateway takes', async () => {
    const headers = { 'X-API-Key': testKey, 'Content-Type': 'application/octet-stream' };
    for (const [path, type, bytes] of [
      ['/image/background_remover', 'multipart/form-data; boundary=BB', 17 * MIB],
      ['/app/analyze', 'application/vnd.android.package-archive', 201 * MIB],
    ] as const) {
      const reply = hold('POST', path, await declareBody(path, { ...headers, 'Content-Type': type }, bytes));
      expect([path, ...(code(reply) as unknown[])]).toEqual([path, 413, 'payload_too_large']);
    }
    for (const { path, method } of operations.filter((each) => each.method === 'POST')) {
      expect(code(hold(method, path, await declareBody(path, headers, 211 * MIB)))).toEqual([413, 'gateway_error']);
    }
  });

  it('401 of a link that is none', async () => {
    const gets = operations.filter(({ method, tags }) => method === 'GET' && tags[0] !== 'api-app');
    expect(gets.length).toBeGreaterThan(10);
    const body = JSON.stringify({ id: 'sandbox-video-0001' });
    const headers = { 'X-API-Key': testKey, 'Content-Type': 'application/json' };
    const { data } = (await ask('POST', '/gdplay/link', { headers, body })).json() as { data: { path: string } };
    const link = data.path.slice(data.path.indexOf('?'));
    const elsewhere = gets.filter(({ path }) => path !== '/gdplay/stream');
    for (const { path } of elsewhere) expect(code(await ask('GET', path + link))).toEqual([401, 'link_not_valid']);
    expect(code(await ask('GET', `/gdplay/stream${link.slice(0, -3)}AAA`))).toEqual([401, 'link_not_valid']);
  });

  it('414 and 503 of a source that is not set up', async () => {
    const live = await tollgate.createKey({ products: ['api-gst', 'api-aadhaar', 'api-grank', 'api-glead'], mode: 'live' });
    const long = await ask('GET', `/ip?ip=${'1'.repeat(9_000)}`, { headers: { 'X-API-Key': testKey } });
    expect(code(long)).toEqual([414, 'gateway_error']);
    const reply = await ask('GET', '/gst/start', { headers: { 'X-API-Key': live.key } });
    expect(code(reply)).toEqual([503, 'upstream_not_configured']);
  });
});

describe('what the gateway answers itself is as the document says', () => {
  const KONG = join(__dirname, '..', '..', 'kong');
  const settings = { kongConfPath: join(KONG, 'kong.conf'), pluginInfoPath: join(KONG, 'access-layer.json'), pluginSocket: '/nowhere' };

  /** kong.yml as it is, but for the access layer and for where its services are. */
  const guardedByNothing = (where: object, upstreams: readonly object[] = []): string => {
    const file = parse(readFileSync(join(KONG, 'kong.yml'), 'utf8'), AS_KONG_READS) as {
      services: (Record<string, unknown> & { routes: object[] })[];
    };
    const services = file.services.map(({ url: _url, plugins: _plugins, routes, ...service }) => ({
      ...service,
      ...where,
      routes: routes.map((route) => ({ ...route, plugins: [] })),
    }));
    return JSON.stringify({ ...file, services, upstreams });
  };

  async function askAll(kongYml?: string): Promise<Set<string>> {
    const gateway = await startGateway({ ...settings, ...(kongYml === undefined ? { kongYmlPath: join(KONG, 'kong.yml') } : { kongYml }) });
    const seen = new Set<string>();
    try {
      for (const { method, path } of operations) {
        const reply = hold(
          method,
          path,
          await send(`http://127.0.0.1:${gateway.port}${path}`, { method, headers: { 'X-API-Key': testKey } }),
        );
        seen.add(JSON.stringify(code(reply)));
      }
    } finally {
      await gateway.close({ graceMs: 50 });
    }
    return seen;
  }

  it('500, while the plugin server is away', async () => expect(await askAll()).toEqual(only([500, 'gateway_error'])));

  it('502, while a service is gone', async () =>
    expect(await askAll(guardedByNothing({ url: 'http://127.0.0.1:1', retries: 0 }))).toEqual(only([502, 'gateway_error'])));

  it('503, while no replica of a service may be asked', async () => {
    const upstreams = [{ name: 'replicas', targets: [{ target: '127.0.0.1:1', weight: 0 }] }];
    expect(await askAll(guardedByNothing({ host: 'replicas' }, upstreams))).toEqual(only([503, 'gateway_error']));
  });

  it('504, while a service does not answer', async () => {
    const silent = createServer((socket) => socket.on('error', () => undefined).resume());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = silent.address() as AddressInfo;
      expect(await askAll(guardedByNothing({ url: `http://127.0.0.1:${port}`, read_timeout: 20, retries: 0 }))).toEqual(only([504, 'gateway_error'])); // prettier-ignore
    } finally {
      silent.close();
    }
  });
});

test('a form with the key says why it was not searched, where it was not', async () => {
  const form = (headers: Record<string, string>, body: string): Promise<Reply> =>
    ask('POST', '/pincode', { headers: { 'Content-Type': 'application/x-www-form-urlencoded', ...headers }, body });
  const whole = `api_key=${testKey}&country=IN&pin=110001`;
  expect((await form({}, whole)).status).toBe(200);
  const large = await form({}, `${whole}&x=${'y'.repeat(1_048_576)}`);
  expect([large.status, large.json().detail]).toEqual([401, expect.stringContaining('forms over 1048576 bytes are not searched')]);
});
