import { type IncomingMessage } from 'node:http';
import { describeProduct } from '../../cli/commands/new-product';
import { openInstallation, type Installation } from '../acceptance/installation';
import { serve, type TestServer } from '../gateway/support/echo-server';
import { sendRaw, statusesOf } from '../support/gateway/raw-http';
import { type AnyGateway, type AnyRunningGateway, EVERY_GATEWAY, startGateways } from './support/every-gateway';

const WEATHER = { id: 'weather', title: 'Weather', description: 'Rain.', prefix: '/weather', daily: 3, monthly: 60, openapi: undefined };
const KEY_IN = ['x-api-key', 'query', 'form', 'header:apikey', 'header:x-shop-key', 'query:apikey', 'query:shop-key'];

let tollgate: Installation;
let api: TestServer;
let key: string;
const seen: IncomingMessage[] = [];
let gateways: ReadonlyMap<AnyGateway, AnyRunningGateway> = new Map();

beforeAll(async () => {
  tollgate = await openInstallation();
  ({ key } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', daily: 100_000, monthly: 100_000 }));
  api = await serve((request, response) => {
    seen.push(request);
    request.resume().on('end', () => response.end('rain'));
  });
  const { block } = describeProduct({ ...WEATHER, url: api.url });
  const plugins = [{ name: 'access-layer', config: { products: ['api-ip'], key_in: KEY_IN } }];
  gateways = await startGateways([{ ...block, plugins }], { api: api.url, kinds: EVERY_GATEWAY });
});

afterAll(async () => {
  await Promise.all([...gateways.values()].map((gateway) => gateway.stop()));
  await Promise.all([api?.close(), tollgate?.close()]);
});

beforeEach(() => void (seen.length = 0));

describe.each(EVERY_GATEWAY)('where a route takes its key, by %s', (kind) => {
  async function ask(line: string, headers: readonly string[]): Promise<{ status: number | undefined; text: string }> {
    const lines = [`${line.includes(' ') ? line : `GET ${line}`} HTTP/1.1`, 'Host: api.example', 'Connection: close', ...headers, '', ''];
    const text = await sendRaw(gateways.get(kind)?.url ?? '', lines.join('\r\n').replaceAll('KEY', key));
    return { status: statusesOf(text)[0], text };
  }

  it.each([
    ['the header', '/weather/pune?a=1', ['apikey: KEY']],
    ['the header in other case', '/weather/pune?a=1', ['ApiKey: KEY']],
    ['another header', '/weather/pune?a=1', ['X-Shop-Key: KEY']],
    ['the parameter', '/weather/pune?apikey=KEY&a=1', []],
    ['the parameter, encoded', '/weather/pune?a=1&shop%2Dkey=KEY', []],
    ['our parameter', '/weather/pune?a=1&api_key=KEY', []],
    ['header and parameter', '/weather/pune?a=1&apikey=KEY', ['apikey: KEY', 'X-Shop-Key: KEY', 'X-API-Key: KEY']],
  ])('%s is one, and the API does not see it', async (_what, target, headers) => {
    const { status } = await ask(target, headers);
    expect([status, seen.map(({ url }) => url)]).toEqual([200, ['/pune?a=1']]);
    expect(JSON.stringify(seen[0]?.rawHeaders)).not.toContain(key);
    expect(Object.keys(seen[0]?.headers ?? {}).filter((name) => /key/.test(name))).toEqual([]);
  });

  it.each([
    ['different keys in two places', '/weather/pune?apikey=other', ['apikey: KEY'], 'ambiguous_key'],
    ['a header of ours with another key', '/weather/pune', ['X-API-Key: other', 'apikey: KEY'], 'ambiguous_key'],
    ['the header twice', '/weather/pune', ['apikey: KEY', 'apikey: KEY'], 'ambiguous_key'],
    ['the parameter twice', '/weather/pune?apikey=KEY&%61pikey=KEY', [], 'ambiguous_key'],
    ['the parameter in other case', '/weather/pune?ApiKey=KEY', [], 'key_missing'],
    ['a place that this route does not name', '/weather/pune', ['Authorization: Bearer KEY'], 'key_missing'],
    ['a route that names none', '/ip', ['apikey: KEY'], 'key_missing'],
  ])('%s is none', async (_what, target, headers, code) => {
    const { status, text } = await ask(target, headers);
    expect([status, seen, /"code": ?"(\w+)"/.exec(text)?.[1]]).toEqual([401, [], code]);
  });

  it('a name with an underscore in place of a hyphen is none, and the API does not see it', async () => {
    const { status } = await ask('/weather/pune', ['X-API-Key: KEY', 'X_Shop_Key: KEY']);
    expect([200, 400]).toContain(status);
    expect(JSON.stringify(seen.map(({ rawHeaders }) => rawHeaders))).not.toContain(key);
  });

  it('a page may send the header', async () => {
    const asked = ['Origin: https://shop.example', 'Access-Control-Request-Method: GET', 'Access-Control-Request-Headers: apikey'];
    const { status, text } = await ask('OPTIONS /weather/pune', asked);
    expect([status, /^access-control-allow-headers: apikey\r$/im.test(text)]).toEqual([200, true]);
  });

  it('no line of a log holds a key', () => {
    expect(gateways.get(kind)?.logs()).not.toContain(key);
  });
});
