import { type IncomingMessage, type ServerResponse } from 'node:http';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { addToList } from '../../cli/commands/add-to-list';
import { describeProduct } from '../../cli/commands/new-product';
import { openInstallation, type Installation } from '../acceptance/installation';
import { serve, type TestServer } from '../gateway/support/echo-server';
import { sendRaw } from '../support/gateway/raw-http';
import { runFolder } from '../support/run-folder';
import { sharedInstance } from '../support/system/shared-instance';
import { type AnyGateway, type AnyRunningGateway, EVERY_GATEWAY, startAnyGateway } from './support/every-gateway';

const WEATHER = { id: 'weather', title: 'Weather', description: 'Rain.', prefix: '/weather', daily: 3, monthly: 60, openapi: undefined };
/** Takes a head of any size that a test would send. */
const UNBOUNDED: readonly AnyGateway[] = ['caddy'];
/** nginx reads an interim response as the response itself, up to version 1.29: docs/your-api.md. */
const WITHOUT_INTERIM: readonly AnyGateway[] = ['nginx', 'nginx-lua', 'kong', 'kong-lane'];
/** Announces trailers that it drops: docs/your-api.md. */
const ANNOUNCES: readonly AnyGateway[] = ['kong', 'kong-lane'];
/** Passes the character on, and the API decides; Caddy refuses it with a text of its own. */
const PASSES_CONTROL_CHARACTERS: readonly AnyGateway[] = ['kong', 'kong-lane', 'nginx-lua'];

let tollgate: Installation;
let api: TestServer;
let key: string;
const seen: IncomingMessage[] = [];
const gateways = new Map<AnyGateway, AnyRunningGateway>();

/** `/head/N` has a head of N bytes, `/hints` an interim response before its own, `/trailers` a header after its body. */
function answer(request: IncomingMessage, response: ServerResponse): void {
  seen.push(request);
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
  else send();
}

beforeAll(async () => {
  tollgate = await openInstallation();
  ({ key } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', daily: 100_000, monthly: 100_000 }));
  api = await serve(answer);
  const { dataDir, services } = await sharedInstance();
  const { block } = describeProduct({ ...WEATHER, url: api.url });
  const plugins = [{ name: 'access-layer', config: { products: ['api-ip'], rate_limit_headers: 'gateway' } }];
  const kongYml = join(mkdtempSync(join(runFolder(), 'tollgate-edges-')), 'kong.yml');
  const shipped = readFileSync(resolve(__dirname, '../../kong/kong.yml'), 'utf8');
  writeFileSync(kongYml, addToList(shipped, { list: 'services', entry: { ...block, plugins } }));
  const everywhere = Object.fromEntries(Object.keys(services).map((name) => [name, api.url]));
  const start = async (kind: AnyGateway): Promise<void> =>
    void gateways.set(kind, await startAnyGateway({ kind, dataDir, services: everywhere, kongYml }));
  await Promise.all(EVERY_GATEWAY.map(start));
});

afterAll(async () => {
  await Promise.all([...gateways.values()].map((gateway) => gateway.stop()));
  await Promise.all([api.close(), tollgate.close()]);
});

beforeEach(() => void (seen.length = 0));

describe.each(EVERY_GATEWAY)('%s', (kind) => {
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

  (ANNOUNCES.includes(kind) ? it.skip : it)('announces the trailers of a response only where it passes them on', async () => {
    const { status, text } = await ask('GET /weather/trailers');
    expect([status, /^trailer: x-sum/im.test(text)]).toEqual([200, /^x-sum: 42/im.test(text)]);
  });

  (WITHOUT_INTERIM.includes(kind) ? it.skip : it)('answers a request whose API sends 103 first', async () => {
    expect(await ask('GET /weather/hints')).toMatchObject({ status: 200, text: expect.stringContaining('rain') });
  });
});
