import { type IncomingMessage, type ServerResponse } from 'node:http';
import { describeProduct } from '../../cli/commands/new-product';
import { NEVER_OF_APIS, OF_LIMITS } from '../../plugins/core/access/reserved-responses';
import { openInstallation } from '../acceptance/installation';
import { serve } from '../support/http';
import { eventually } from '../support/eventually';
import { sendRaw } from '../support/gateway/raw-http';
import { type AnyGateway, kongYmlWith, SOME_GATEWAYS, useGateways } from './support/every-gateway';
import { useOpened } from '../support/opened';

const WEATHER = { id: 'weather', title: 'Weather', description: 'Rain.', prefix: '/weather', daily: 3, monthly: 60, openapi: undefined };
/** What the shipped gateways say of each admission on a route with `rate_limit_headers: gateway`. */
const TOLD_OF_ADMISSIONS = [
  'RateLimit',
  'RateLimit-Policy',
  'Access-Control-Allow-Origin',
  'Access-Control-Expose-Headers',
  'Vary',
  'X-Kong-Request-Id',
];
/** How long a gateway waits for the API behind `/fog` and `/hail`. */
const PATIENCE_MS = 1_000;
/** Takes a head of any size that a test would send. */
const UNBOUNDED: readonly AnyGateway[] = ['caddy'];
/** nginx reads an interim response as the response itself, up to version 1.29: docs/your-api.md. */
const WITHOUT_INTERIM: readonly AnyGateway[] = ['nginx', 'nginx-lua', 'kong', 'kong-lane'];
/** Announces trailers that it drops: docs/your-api.md. */
const ANNOUNCES: readonly AnyGateway[] = ['kong', 'kong-lane'];
/** Passes the character on, and the API decides; Caddy refuses it with a text of its own. */
const PASSES_CONTROL_CHARACTERS: readonly AnyGateway[] = ['kong', 'kong-lane', 'nginx-lua'];
/** Their access logs are at hand here. */
const WRITES_LOGS: readonly AnyGateway[] = ['nginx', 'nginx-lua', 'kong', 'kong-lane'];

const tollgate = useOpened(openInstallation);
const api = useOpened(() => serve(answer));
let key: string;
/** Of a key that pages of one site may use. */
let pageKey: string;
const seen: IncomingMessage[] = [];

/**
 * `/head/N` has a head of N bytes, `/hints` an interim response before its own, `/trailers` a header after its body, `/names` says what is
 * the gateway's to say, `/nothing` ends the connection without a response, and `/never` sends none.
 */
function answer(request: IncomingMessage, response: ServerResponse): void {
  seen.push(request);
  if (request.url === '/nothing' || request.url === '/ip/nothing') return void request.socket.destroy();
  if (request.url === '/never') return;
  if (request.url === '/names' || request.url === '/ip/names') {
    for (const name of [...OF_LIMITS, ...NEVER_OF_APIS]) response.setHeader(name, ['api-1', 'api-2']);
    return void response.setHeader('Access-Control-Allow-Origin', '*').end();
  }
  const bytes = Number(/^\/head\/(\d+)$/.exec(request.url ?? '')?.[1] ?? 0);
  const send = (): void => {
    for (let at = 0; at * 1_000 < bytes; at++) response.setHeader(`X-Part-${at}`, 'a'.repeat(980));
    response.end('rain');
  };
  if (request.url === '/trailers') {
    response.setHeader('Trailer', 'X-Sum').write('rain');
    response.addTrailers({ 'X-Sum': '42' });
    response.end();
  } else if (request.url === '/hints') response.writeEarlyHints({ link: '</style.css>; rel=preload' }, send);
  else request.resume().on('end', send);
}

beforeAll(async () => {
  const limits = { products: ['api-ip'], mode: 'test', daily: 100_000, monthly: 100_000 } as const;
  [{ key }, { key: pageKey }] = await Promise.all([
    tollgate.createKey({ ...limits, products: ['api-ip'] }),
    tollgate.createKey({ ...limits, products: ['api-ip'], allow: ['shop.example'] }),
  ]);
});
const gateways = useGateways(() => {
  const { block } = describeProduct({ ...WEATHER, url: api.url });
  const plugins = [{ name: 'access-layer', config: { products: ['api-ip'], rate_limit_headers: 'gateway' } }];
  // Nobody listens on port 1.
  const storms = describeProduct({ ...WEATHER, id: 'storms', prefix: '/storms', url: 'http://127.0.0.1:1' });
  const fog = describeProduct({ ...WEATHER, id: 'fog', prefix: '/fog', url: api.url });
  const hail = describeProduct({ ...WEATHER, id: 'hail', prefix: '/hail', url: api.url });
  const services = [
    { ...hail.block, retries: 1, read_timeout: PATIENCE_MS, plugins },
    { ...fog.block, read_timeout: PATIENCE_MS, plugins },
    { ...block, plugins },
    { ...storms.block, plugins },
  ];
  return { api: api.url, kinds: SOME_GATEWAYS, kongYml: kongYmlWith(...services) };
});

beforeEach(() => void (seen.length = 0));

describe.each(SOME_GATEWAYS)('%s', (kind) => {
  const ask = async (line: string, headers: readonly string[] = [`X-API-Key: ${key}`]): Promise<{ status: number; text: string }> => {
    const bytes = [`${line} HTTP/1.1`, 'Host: api.example', 'Connection: close', ...headers, '', ''].join('\r\n');
    const text = await sendRaw(gateways.get(kind)?.url ?? '', Buffer.from(bytes, 'latin1'));
    return { status: Number([...text.matchAll(/^HTTP\/1\.1 ([2-5]\d\d) /gm)].at(-1)?.[1] ?? 0), text };
  };

  it('passes on a response with a head of 24 KiB, and answers 502 for one that is over its bound', async () => {
    const whole = await ask('GET /weather/head/24000');
    expect([whole.status, whole.text.match(/x-part-\d+: a{980}\r\n/gi)?.length]).toEqual([200, 24]);
    expect((await ask('GET /weather/head/60000')).status).toBe(UNBOUNDED.includes(kind) ? 200 : 502);
  });

  it('refuses TRACE, and the API is not asked', async () => {
    expect([(await ask('TRACE /weather/pune')).status, seen]).toEqual([405, []]);
  });

  // Others count the body that comes.
  (kind === 'haproxy' ? it : it.skip)('refuses a body of more than 210 MiB as a problem with a request id', async () => {
    const { status, text } = await ask('POST /weather/pune', [`X-API-Key: ${key}`, 'Content-Length: 220200961']);
    expect([status, seen]).toEqual([413, []]);
    expect(text).toMatch(/"code":"gateway_error","request_id":"[0-9a-f]{32}"/);
  });

  it('asks an API that is too slow for a GET at most once more where retries is 1, also on a connection that was kept', async () => {
    expect((await ask('GET /hail/pune')).status).toBe(200);
    const { status } = await ask('GET /hail/never');
    const asked = seen.filter(({ url }) => url === '/never').length;
    expect([status, asked >= 1 && asked <= 2]).toEqual([504, true]);
  });

  it('writes no key that stands in a path to its logs', async () => {
    const [, name = ''] = /^tg_(.*)$/.exec(key) ?? [];
    for (const prefix of ['tg_', '%74g_', 'tg%5f', '%54G_']) await ask(`GET /weather/${prefix}${name}/x`);
    await ask('GET /weather/logged');
    // HAProxy, Caddy and the stand-in write theirs elsewhere.
    if (WRITES_LOGS.includes(kind)) await eventually(() => gateways.get(kind)?.logs().includes('/weather/logged') === true);
    expect(gateways.get(kind)?.logs()).not.toContain(name);
  });

  it.each([
    ['/weather%0A', 404, undefined],
    ['/weather/%0A', 200, '/%0A'],
    ['/weather/a%0Ab', 200, '/a%0Ab'],
    ['/weather/a%0Db', 200, '/a%0Db'],
    ['/ip%0A', 404, undefined],
    ['/ip/a%0Ab', 404, undefined],
    ['/ip/a%0Db', 200, '/ip/a%0Db'],
  ])('takes %s for the same route as every other gateway', async (path, status, asked) => {
    expect([(await ask(`GET ${path}`)).status, seen.at(-1)?.url]).toEqual([status, asked]);
  });

  (PASSES_CONTROL_CHARACTERS.includes(kind) ? it.skip : it).each([
    ['a caller with a key', true],
    ['a stranger', false],
  ])('refuses a header with a control character as the mistake of %s', async (_who, hasKey) => {
    const { status, text } = await ask('GET /weather/pune', [...(hasKey ? [`X-API-Key: ${key}`] : []), 'X-Odd: a\u0001b']);
    expect([status, seen]).toEqual([400, []]);
    if (kind !== 'caddy') expect(text).toMatch(/"code": ?"(?:request_not_readable|gateway_error)"/);
  });

  it.each([
    ['many headers, of a caller with a key', 70, true],
    ['many headers, of a stranger', 70, false],
    ['one header, of a caller with a key', 1, true],
    ['one header, of a stranger', 1, false],
  ])('refuses a head of 70 KB as the caller’s mistake: %s', async (_what, count, hasKey) => {
    const long = Array.from({ length: count }, (_, index) => `X-Long-${index}: ${'a'.repeat(70_000 / count)}`);
    const { status, text } = await ask('GET /weather/pune', [...(hasKey ? [`X-API-Key: ${key}`] : []), ...long]);
    expect([status, seen]).toEqual([400, []]);
    // HAProxy has a page of its own for what is not a request yet.
    if (kind !== 'haproxy') expect(text).toMatch(/"code": ?"(?:request_not_readable|gateway_error)"/);
  });

  (ANNOUNCES.includes(kind) ? it.skip : it)('announces the trailers of a response only where it passes them on', async () => {
    const { status, text } = await ask('GET /weather/trailers');
    expect([status, /^trailer: x-sum/im.test(text)]).toEqual([200, /^x-sum: 42/im.test(text)]);
  });

  (WITHOUT_INTERIM.includes(kind) ? it.skip : it)('answers a request whose API sends 103 first', async () => {
    expect(await ask('GET /weather/hints')).toMatchObject({ status: 200, text: expect.stringContaining('rain') });
  });

  // Some say 100 Continue before they refuse: docs/operate/existing-kong.md.
  it('refuses a stranger who waits for 100 Continue, and takes the body of a caller with a key', async () => {
    const waiting = ['Content-Length: 5', 'Expect: 100-continue'];
    expect([(await ask('POST /weather/pune', waiting)).status, seen]).toEqual([401, []]);
    const { status } = await ask('POST /weather/pune', [`X-API-Key: ${key}`, ...waiting, '', 'hello']);
    expect([status, seen.length]).toEqual([200, 1]);
  });

  const valuesOf = (text: string, name: string): string[] =>
    [...text.matchAll(new RegExp(`^${name}: (.*?)\\r?$`, 'gim'))].map(([, value = '']) => value);

  it.each([
    ['an API that is away', '/storms/now'],
    ['an API that ends the connection', '/weather/nothing'],
    ['a response that it cannot read', '/weather/head/60000'],
    ['an API that is too slow', '/fog/never', 504],
  ])('tells a page of %s, with limits and request id', async (_what, path, expected = 502) => {
    const { status, text } = await ask(`GET ${path}`, [`X-API-Key: ${pageKey}`, 'Origin: https://shop.example']);
    if (UNBOUNDED.includes(kind) && path.includes('/head/')) return;
    const told = Object.fromEntries(TOLD_OF_ADMISSIONS.map((name) => [name, valuesOf(text, name).length]));
    const once = Object.fromEntries(TOLD_OF_ADMISSIONS.map((name) => [name, 1]));
    // HAProxy and others answer 503 where nobody listens.
    const statuses = path === '/storms/now' ? [502, 503] : [expected];
    expect([statuses, told]).toEqual([expect.arrayContaining([status]), once]);
    expect(valuesOf(text, 'Access-Control-Allow-Origin')).toEqual(['https://shop.example']);
    expect(text).toMatch(/"code": ?"gateway_error"/);
  });

  it('says alone what is the gateway’s to say', async () => {
    const { text } = await ask('GET /weather/names', [`X-API-Key: ${pageKey}`, 'Origin: https://shop.example']);
    const told = Object.fromEntries([...OF_LIMITS, ...NEVER_OF_APIS].map((name) => [name, valuesOf(text, name)]));
    expect(Object.entries(told).filter(([, values]) => values.some((value) => value.includes('api-')))).toEqual([]);
    for (const name of TOLD_OF_ADMISSIONS) expect([name, valuesOf(text, name).length]).toEqual([name, 1]);
    expect(valuesOf(text, 'Access-Control-Allow-Origin')).toEqual(['https://shop.example']);
  });

  it('leaves the limits to a service that states them', async () => {
    const { text } = await ask('GET /ip/names');
    expect(NEVER_OF_APIS.filter((name) => valuesOf(text, name).some((value) => value.includes('api-')))).toEqual([]);
    expect(OF_LIMITS.filter((name) => !valuesOf(text, name)[0]?.startsWith('api-1'))).toEqual([]);
  });

  it('leaves them to it in its own errors too, and says there which pages may read', async () => {
    const { status, text } = await ask('GET /ip/nothing', [`X-API-Key: ${pageKey}`, 'Origin: https://shop.example']);
    const told = OF_LIMITS.flatMap((name) => valuesOf(text, name));
    expect([status, told, valuesOf(text, 'X-Kong-Request-Id').length]).toEqual([502, [], 1]);
    expect(valuesOf(text, 'Access-Control-Allow-Origin')).toEqual(['https://shop.example']);
  });

  it.each([
    ['announced', ['Trailer: X-API-Key, X-Tollgate-Context, X-Sum', 'TE: trailers']],
    ['unannounced', []],
  ])('passes on no trailers of a request, %s', async (_how, headers) => {
    const trailers = [`X-API-Key: ${key}`, 'X-Tollgate-Context: forged', 'X-Sum: 42', '', ''].join('\r\n');
    const body = `5\r\nhello\r\n0\r\n${trailers}`;
    const { status } = await ask('POST /weather/pune', [`X-API-Key: ${key}`, 'Transfer-Encoding: chunked', ...headers, '', body]);
    expect(seen.flatMap(({ rawTrailers }) => rawTrailers)).toEqual([]);
    // HAProxy has no rule that takes them off.
    expect(status).toBe(kind === 'haproxy' ? 400 : 200);
  });
});
