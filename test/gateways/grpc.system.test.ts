import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  credentials,
  Metadata,
  Server,
  ServerCredentials,
  type ServiceError,
  status,
  type ServerDuplexStream,
  type ServerUnaryCall,
  type ServerWritableStream,
  type sendUnaryData,
  type ServiceDefinition,
} from '@grpc/grpc-js';
import { addToList } from '../../cli/commands/add-to-list';
import { describeProduct } from '../../cli/commands/new-product';
import { openInstallation } from '../acceptance/installation';
import { createTestAuthority, type TestAuthority } from '../support/certificates';
import { newFolder } from '../support/run-folder';
import { sharedInstance } from '../support/system/shared-instance';
import { type AnyGateway, type AnyRunningGateway, REAL_KONGS, startAnyGateway } from './support/every-gateway';
import { useOpened } from '../support/opened';

/** Longer than Kong waits for the next bytes of a form. */
const PAUSE_MS = 6_000;

const same = (bytes: Buffer): Buffer => bytes;
const asBytes = { requestSerialize: same, requestDeserialize: same, responseSerialize: same, responseDeserialize: same };
const method = (name: string, requestStream: boolean, responseStream: boolean) => ({
  path: `/PACKAGE.v1.Weather/${name}`,
  requestStream,
  responseStream,
  ...asBytes,
});
const METHODS = { Now: method('Now', false, false), Watch: method('Watch', false, true), Talk: method('Talk', true, true) };
/** In every package. */
const definitionOf = (id: string): ServiceDefinition =>
  Object.fromEntries(Object.entries(METHODS).map(([name, each]) => [name, { ...each, path: each.path.replace('PACKAGE', id) }]));

const PACKAGES = ['weather', 'safe', 'unsafe'];

const tollgate = useOpened(openInstallation);
let key: string;
const apis: Server[] = [];
const seen: Metadata[] = [];
const gateways = new Map<AnyGateway, AnyRunningGateway>();

/** `Now` says the city again, `Watch` thrice, `Talk` whatever it is told; the city of nobody is not found. */
const WEATHER_API = {
  Now({ request, metadata }: ServerUnaryCall<Buffer, Buffer>, answer: sendUnaryData<Buffer>) {
    seen.push(metadata);
    if (request.toString() === 'nobody') return answer({ code: status.NOT_FOUND, details: 'no such city' });
    const trailers = new Metadata();
    trailers.set('x-sum', '42');
    answer(null, request, trailers);
  },
  Watch(call: ServerWritableStream<Buffer, Buffer>) {
    seen.push(call.metadata);
    const told = new Metadata();
    for (const name of ['ratelimit', 'x-tollgate-context', 'x-tollgate-charged', 'x-units']) told.set(name, 'api');
    call.sendMetadata(told);
    for (let count = 0; count < 3; count++) call.write(call.request);
    call.end();
  },
  Talk(call: ServerDuplexStream<Buffer, Buffer>) {
    seen.push(call.metadata);
    call.on('data', (said: Buffer) => call.write(said)).on('end', () => call.end());
  },
};

/** @returns its port */
async function startApi(channel: ServerCredentials): Promise<number> {
  const api = new Server();
  apis.push(api);
  for (const id of PACKAGES) api.addService(definitionOf(id), WEATHER_API);
  return new Promise((done, fail) => api.bindAsync('localhost:0', channel, (error, port) => (error ? fail(error) : done(port))));
}

const known = createTestAuthority('known');

async function startTlsApi(authority: TestAuthority): Promise<number> {
  const { cert, key: privateKey } = authority.issue('weather');
  return startApi(ServerCredentials.createSsl(null, [{ cert_chain: cert, private_key: privateKey }]));
}

/** kong.yml with a product for each API, by its package. Each is the shared instance's api-ip. */
async function writeKongYml(folder: string): Promise<string> {
  const urls = {
    weather: `grpc://localhost:${await startApi(ServerCredentials.createInsecure())}`,
    safe: `grpcs://localhost:${await startTlsApi(known)}`,
    unsafe: `grpcs://localhost:${await startTlsApi(createTestAuthority('unknown'))}`,
    // Nobody listens on port 1.
    away: 'grpc://127.0.0.1:1',
  };
  let text = readFileSync('kong/kong.yml', 'utf8');
  for (const [id, url] of Object.entries(urls)) {
    const { block } = describeProduct({
      id,
      title: id,
      description: 'Rain.',
      prefix: `/${id}.v1.Weather`,
      url,
      daily: 3,
      monthly: 60,
      openapi: undefined,
    });
    const plugins = [{ name: 'access-layer', config: { products: ['api-ip'], rate_limit_headers: 'gateway' } }];
    text = addToList(text, { list: 'services', entry: { ...block, plugins } });
  }
  writeFileSync(join(folder, 'kong.yml'), text);
  return join(folder, 'kong.yml');
}

beforeAll(async () => {
  ({ key } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', daily: 100_000, monthly: 100_000 }));
  const { dataDir, services } = await sharedInstance();
  const folder = newFolder();
  const kongYml = await writeKongYml(folder);
  writeFileSync(join(folder, 'known.pem'), known.ca);
  const settings = { nginx_proxy_grpc_ssl_trusted_certificate: join(folder, 'known.pem') };
  for (const kind of REAL_KONGS) gateways.set(kind, await startAnyGateway({ kind, dataDir, services, kongYml, settings }));
});

afterAll(async () => {
  await Promise.all([...gateways.values()].map((gateway) => gateway.stop()));
  for (const api of apis) api.forceShutdown();
});

beforeEach(() => void (seen.length = 0));

interface Outcome {
  readonly code: status;
  readonly details: string;
  readonly messages: readonly string[];
  readonly head: Metadata;
  readonly trailers: Metadata;
}

if (REAL_KONGS.length === 0) console.warn('skipped: KONG_BIN names no Kong, and no other gateway passes gRPC on');
/** Jest takes no empty table. */
const KONGS: readonly AnyGateway[] = REAL_KONGS.length > 0 ? REAL_KONGS : ['kong'];

(REAL_KONGS.length > 0 ? describe : describe.skip).each(KONGS)('a gRPC API behind %s', (kind) => {
  function open(byTls = false): Client {
    const { url = '', tlsUrl = '' } = gateways.get(kind) ?? {};
    const channel = byTls ? credentials.createSsl(null, null, null, { rejectUnauthorized: false }) : credentials.createInsecure();
    // The client would try again a call that is refused as unavailable.
    return new Client(new URL(byTls ? tlsUrl : url).host, channel, { 'grpc.enable_retries': 0 });
  }

  async function call(
    name: string,
    said: readonly string[],
    metadata: Readonly<Record<string, string>>,
    { byTls = false, pauseMs = 0 } = {},
  ): Promise<Outcome> {
    const client = open(byTls);
    const sent = new Metadata();
    for (const [header, value] of Object.entries(metadata)) sent.set(header, value);
    const path = name.includes('/') ? `/${name.replace('/', '.v1.Weather/')}` : `/weather.v1.Weather/${name}`;
    const stream = client.makeBidiStreamRequest(path, same, same, sent);
    const messages: string[] = [];
    let head = new Metadata();
    stream.on('metadata', (given: Metadata) => (head = given));
    stream.on('data', (bytes: Buffer) => messages.push(bytes.toString()));
    stream.on('error', () => undefined);
    const over = new Promise<Outcome>((done) =>
      stream.on('status', ({ code, details, metadata: trailers }: ServiceError) => done({ code, details, messages, head, trailers })),
    );
    for (const [index, text] of said.entries()) {
      if (index > 0) await sleep(pauseMs);
      stream.write(Buffer.from(text));
    }
    stream.end();
    const outcome = await over;
    client.close();
    return outcome;
  }
  const asCaller = (): Record<string, string> => ({ 'x-api-key': key });

  it.each([
    ['in clear text', false],
    ['by TLS', true],
  ])('is called %s: a response, and a stream of them', async (_how, byTls) => {
    const now = await call('Now', ['pune'], asCaller(), { byTls });
    expect(now).toMatchObject({ code: status.OK, messages: ['pune'] });
    expect(now.trailers.get('x-sum')).toEqual(['42']);
    expect(await call('Watch', ['pune'], asCaller(), { byTls })).toMatchObject({ code: status.OK, messages: ['pune', 'pune', 'pune'] });
  });

  it('may be talked to with pauses', async () => {
    expect(await call('Talk', ['a', 'b'], asCaller(), { pauseMs: PAUSE_MS })).toMatchObject({ code: status.OK, messages: ['a', 'b'] });
  });

  it.each([
    ['X-API-Key', asCaller],
    ['Authorization', () => ({ authorization: `Bearer ${key}` })],
  ])('sees a proof in place of the key of %s, and nothing else in the gateway’s name', async (_where, metadata) => {
    const forged = { 'x-tollgate-context': 'forged', 'x-tollgate-customer': 'forged', cookie: `k=${key}` };
    expect(await call('Now', ['pune'], { ...metadata(), ...forged })).toMatchObject({ code: status.OK });
    const [told] = seen.map((given) => given.getMap());
    expect(told?.['x-tollgate-context']).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
    expect(JSON.stringify(told)).not.toMatch(new RegExp(`${key}|forged|x-api-key|authorization`));
  });

  it.each([
    ['no key', {}, status.UNAUTHENTICATED, 'key_missing: Send your API key as'],
    [
      'two keys',
      { 'x-api-key': 'tg_live_a', authorization: 'Bearer tg_live_b' },
      status.UNAUTHENTICATED,
      'ambiguous_key: Send exactly one',
    ],
    ['the key of nobody', { 'x-api-key': `tg_live_${'a'.repeat(33)}` }, status.UNAUTHENTICATED, 'key_unknown: The API key is not valid'],
    ['the key of nobody in another form', { 'x-api-key': 'shop-9-7f4e11c09ab2d35586Zq' }, status.UNAUTHENTICATED, 'key_unknown: '],
  ])('is not asked by a caller with %s, who reads why', async (_what, metadata, code, details) => {
    for (const name of ['Now', 'Watch', 'Talk'])
      expect(await call(name, ['pune'], metadata)).toMatchObject({ code, details: expect.stringContaining(details), messages: [] });
    expect(seen).toEqual([]);
  });

  it('is not asked past the limit, and the caller reads when to come again', async () => {
    const limited = await tollgate.createKey({ products: ['api-ip'], mode: 'test', daily: 1, monthly: 10 });
    expect(await call('Now', ['pune'], { 'x-api-key': limited.key })).toMatchObject({ code: status.OK });
    const { trailers, ...refused } = await call('Now', ['pune'], { 'x-api-key': limited.key });
    expect(refused).toMatchObject({ code: status.RESOURCE_EXHAUSTED, details: expect.stringMatching(/^quota_daily_exceeded: The daily /) });
    expect([seen.length, Number(trailers.get('retry-after')[0]) > 0, trailers.get('ratelimit')]).toEqual([
      1,
      true,
      [expect.stringContaining('"daily";r=0;')],
    ]);
  });

  it('is not asked by a caller whom the rules of a key leave out', async () => {
    const elsewhere = await tollgate.createKey({ products: ['api-ip'], mode: 'test', allow: ['203.0.113.7'] });
    expect(await call('Now', ['pune'], { 'x-api-key': elsewhere.key })).toMatchObject({
      details: expect.stringMatching(/^caller_not_whitelisted: /),
    });
    expect(seen).toEqual([]);
  });

  it('leaves limits to the gateway, and says its own status', async () => {
    const { head } = await call('Watch', ['pune'], asCaller());
    expect(head.get('ratelimit')).toEqual([expect.stringContaining('"daily";r=')]);
    for (const name of ['x-tollgate-context', 'x-tollgate-charged', 'x-units']) expect([name, head.get(name)]).toEqual([name, []]);
    expect(await call('Now', ['nobody'], asCaller())).toMatchObject({ code: status.NOT_FOUND, details: 'no such city' });
  });

  it('that is away is an error of gRPC', async () => {
    const { code, trailers } = await call('away/Now', ['pune'], asCaller());
    expect([code, trailers.get('x-kong-request-id').length]).toEqual([status.INTERNAL, 1]);
  });

  it('is asked by TLS only with a certificate that is known', async () => {
    expect(await call('safe/Now', ['pune'], asCaller())).toMatchObject({ code: status.OK, messages: ['pune'] });
    expect(await call('unsafe/Now', ['pune'], asCaller())).toMatchObject({ code: status.INTERNAL, messages: [] });
    expect(seen.length).toBe(1);
  });
});
