import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { credentials, makeClientConstructor, Metadata, type Client, type ServiceError } from '@grpc/grpc-js';
import {
  type CheckResponse,
  ExtAuthzServer,
  type HeaderValueOption,
  loadAuthorization,
} from '../../plugins/entrances/ext-authz/ext-authz-server';
import { StoreUnavailable } from '../../plugins/core/ports';
import { compileWhitelist } from '../../plugins/core/access/whitelist';
import { failing, key, proofIn, recordOf } from '../access-layer/call-plugin';
import { stagePlugin, type StagedPlugin } from './support/entrance-stage';

const SECRET = 'a secret that Envoy and plugin server share';

type Check = (
  request: object,
  metadata: Metadata,
  done: (error: ServiceError | null, response?: CheckResponse & { okResponse: unknown; deniedResponse: unknown }) => void,
) => void;

let folder: string;
let server: ExtAuthzServer | undefined;
let client: (Client & { check: Check }) | undefined;

beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'ext-authz-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => serve());
afterEach(stop);

async function stop(): Promise<void> {
  client?.close();
  await server?.close({ graceMs: 0 });
}

/** In place of what was served before. */
async function serve(staged: StagedPlugin = stagePlugin()): Promise<void> {
  await stop();
  const path = join(folder, 's.sock');
  server = new ExtAuthzServer({ plugin: staged.plugin, listen: { path }, secret: undefined, log: staged.log });
  await server.listen();
  connect(`unix:${path}`);
}

function connect(address: string): void {
  const Constructor = makeClientConstructor(loadAuthorization(), 'Authorization');
  client = new Constructor(address, credentials.createInsecure()) as unknown as Client & { check: Check };
}

interface Asked {
  readonly path?: string;
  readonly method?: string;
  readonly headers?: Record<string, string>;
  /** As with encode_raw_headers. */
  readonly raw?: readonly (readonly [string, string])[];
  readonly extensions?: Record<string, string>;
  readonly address?: string;
  readonly metadata?: Metadata;
}

/** In the shape in which Envoy 1.3x sends it. */
function check({
  path = '/ip',
  method = 'GET',
  headers = {},
  raw,
  extensions = { products: 'api-ip' },
  address = '203.0.113.7',
  metadata,
}: Asked): Promise<CheckResponse> {
  const pseudo = { ':method': method, ':path': path, ':authority': 'api.example', ':scheme': 'http' };
  const rawHeaders = raw && [...Object.entries(pseudo), ...raw].map(([name, value]) => ({ key: name, rawValue: Buffer.from(value) }));
  const given = rawHeaders ? { headerMap: { headers: rawHeaders } } : { headers: { ...pseudo, ...headers } };
  const http = { id: '10184239374619823746', method, path, host: 'api.example', protocol: 'HTTP/1.1', ...given };
  const source = { address: { socketAddress: { address, portValue: 51_234 } } };
  const attributes = { source, request: { http }, contextExtensions: extensions };
  return new Promise((resolve, reject) => {
    client?.check({ attributes }, metadata ?? new Metadata(), (error, response) => {
      if (error || !response) reject(error ?? new Error('no answer'));
      else resolve(response);
    });
  });
}

const named = (options: readonly HeaderValueOption[] = []): Record<string, string> =>
  Object.fromEntries(options.map(({ header }) => [header.key, header.value]));
const withKey = { 'x-api-key': key };
const codeOf = ({ deniedResponse }: CheckResponse): unknown =>
  deniedResponse && (JSON.parse(deniedResponse.body) as { code: unknown }).code;

describe('an admitted request', () => {
  it('is told the proof to set and the credentials to take away', async () => {
    const headers = { ...withKey, 'x-tollgate-anything': '1', x_tollgate_mode: 'live' };
    const answer = await check({ headers, path: `/ip?api_key=${key}&a=1` });
    expect(answer.status.code).toBe(0);
    const proof = proofIn({ set: { 'X-Tollgate-Context': named(answer.okResponse?.headers)['x-tollgate-context'] ?? '' } });
    expect(proof).toMatchObject({ ok: true, context: { product: 'api-ip', callerAddress: '203.0.113.7' } });
    expect(answer.okResponse?.headersToRemove).toEqual(
      expect.arrayContaining(['x-api-key', 'x_api_key', 'x-tollgate-anything', 'x_tollgate_mode']),
    );
    expect(answer.okResponse?.queryParametersToRemove).toEqual(['api_key']);
    expect(answer.dynamicMetadata.fields['outcome']?.stringValue).toBe('admitted');
  });

  it('loses a cookie and a Referer that hold a copy of the key', async () => {
    const copies = await check({ headers: { ...withKey, cookie: `a=1; k=${key}`, referer: `https://a.example/?k=${key}` } });
    expect(copies.okResponse?.headersToRemove).toEqual(expect.arrayContaining(['cookie', 'referer']));
    const plain = await check({ headers: { ...withKey, cookie: 'a=1', referer: 'https://a.example/' } });
    expect(plain.okResponse?.headersToRemove).not.toEqual(expect.arrayContaining(['cookie']));
  });

  it('has its own proof replaced, never removed', async () => {
    const answer = await check({ headers: { ...withKey, 'x-tollgate-context': 'forged' } });
    expect(answer.okResponse?.headersToRemove).not.toContain('x-tollgate-context');
    expect(named(answer.okResponse?.headers)['x-tollgate-context']).not.toBe('forged');
    expect(answer.okResponse?.headers.every(({ append }) => !append.value)).toBe(true);
  });

  it('loses Authorization only where it carried the key', async () => {
    const bearer = await check({ headers: { authorization: `Bearer ${key}` } });
    const basic = await check({ headers: { ...withKey, authorization: 'Basic dTpw' } });
    expect(bearer.okResponse?.headersToRemove).toContain('authorization');
    expect(basic.okResponse?.headersToRemove).not.toContain('authorization');
  });
});

it('a browser’s preflight is answered 200 and not let through', async () => {
  const headers = { origin: 'https://app.example.com', 'access-control-request-method': 'POST' };
  const answer = await check({ method: 'OPTIONS', headers });
  expect([answer.status.code, answer.deniedResponse?.status.code]).toEqual([7, 200]);
  expect(named(answer.deniedResponse?.headers)['access-control-allow-methods']).toContain('POST');
});

describe('a refused request', () => {
  it('is denied with the problem, its status and its headers', async () => {
    const answer = await check({});
    expect([answer.status.code, answer.deniedResponse?.status.code, codeOf(answer)]).toEqual([7, 401, 'key_missing']);
    expect(named(answer.deniedResponse?.headers)).toMatchObject({
      'content-type': 'application/problem+json',
      'www-authenticate': 'Bearer realm="tollgate"',
      'x-kong-request-id': expect.any(String),
    });
  });

  it('is 429 past the limit', async () => {
    const codes = [];
    for (let asked = 0; asked < 3; asked++) codes.push((await check({ headers: withKey })).deniedResponse?.status.code);
    expect(codes).toEqual([undefined, undefined, 429]);
  });

  it('has a repeated key seen as such, joined or raw', async () => {
    expect(codeOf(await check({ raw: [['x-api-key', key], ['x-api-key', key]] }))).toBe('ambiguous_key'); // prettier-ignore
    expect(codeOf(await check({ headers: { 'x-api-key': `${key},${key}` } }))).toBe('key_unknown');
  });

  it.each([
    [`/ip?%61pi_key=${key}`, 'request_not_readable'],
    [`/ip?other=${key}`, 'request_not_readable'],
    ['/ip//x', 'ambiguous_path'],
    ['/ip/../gst', 'ambiguous_path'],
    ['/ip/..%2fgst', 'ambiguous_path'],
    ['/ip/..;/gst', 'ambiguous_path'],
  ])('is 400 where Envoy could not pass it on safely: %s', async (path, code) => {
    expect(codeOf(await check({ path, headers: withKey }))).toBe(code);
  });
});

it('is 400 where Connection names a header of ours, and goes on where it names another', async () => {
  const upgrade = (connection: string): ReturnType<typeof check> => check({ headers: { ...withKey, upgrade: 'websocket', connection } });
  expect(codeOf(await upgrade('Upgrade, x-tollgate-context'))).toBe('request_not_readable');
  expect((await upgrade('Upgrade, keep-alive')).status.code).toBe(0);
});

describe('the caller’s address', () => {
  it('is the connection’s, or the one that Envoy vouches for where the route says so', async () => {
    await serve(stagePlugin(recordOf({ whitelist: compileWhitelist(['203.0.113.7']) })));
    const headers = { ...withKey, 'x-forwarded-for': '203.0.113.7', 'x-envoy-external-address': '203.0.113.7' };
    const asked = (setting: Record<string, string>): Promise<CheckResponse> =>
      check({ headers, address: '198.51.100.9', extensions: { products: 'api-ip', ...setting } });
    expect(codeOf(await asked({}))).toBe('caller_not_whitelisted');
    expect((await asked({ caller_address: 'x-envoy-external-address' })).status.code).toBe(0);
    expect(codeOf(await asked({ caller_address: 'x-forwarded-for' }))).toBe('access_layer_unavailable');
  });

  it('is believed over TCP only from who knows the secret', async () => {
    const { plugin, log } = stagePlugin();
    await stop();
    server = new ExtAuthzServer({ plugin, listen: { host: '127.0.0.1', port: 0 }, secret: SECRET, log });
    await server.listen();
    connect(`127.0.0.1:${server.port}`);
    const metadata = new Metadata();
    expect((await check({ headers: withKey })).deniedResponse?.status.code).toBe(503);
    metadata.set('x-tollgate-gateway', `${SECRET}x`);
    expect((await check({ headers: withKey, metadata })).deniedResponse?.status.code).toBe(503);
    metadata.set('x-tollgate-gateway', SECRET);
    expect((await check({ headers: withKey, metadata })).status.code).toBe(0);
  });
});

describe('an error of ours is a denial', () => {
  it.each<[string, Record<string, string>]>([
    ['no product', {}],
    ['what is no id of a product', { products: 'API NOPE' }],
    ['an unknown setting', { products: 'api-ip', quoat: 'false' }],
    ['a header with another meaning for the key', { products: 'api-ip', key_in: 'header:host' }],
    ['forms, whose bodies Envoy would have to buffer', { products: 'api-ip', key_in: 'form' }],
  ])('when a route names %s', async (_, extensions) => {
    expect((await check({ headers: withKey, extensions })).deniedResponse?.status.code).toBe(503);
  });

  it('when the store fails, and when Envoy tells no address', async () => {
    await serve(stagePlugin(recordOf(), { records: failing(new StoreUnavailable('gone')) }));
    expect((await check({ headers: withKey })).deniedResponse?.status.code).toBe(503);
    expect((await check({ headers: withKey, address: '' })).deniedResponse?.status.code).toBe(503);
  });
});
