import { type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeProduct } from '../../cli/commands/new-product';
import { openInstallation } from '../acceptance/installation';
import { eventually } from '../support/eventually';
import { closeConnections, type Reply, send, serve } from '../support/http';
import { newFolder } from '../support/run-folder';
import { type AnyGateway, EVERY_GATEWAY, kongYmlWith, REAL_GATEWAYS, useGateways } from './support/every-gateway';
import { setTimeout as sleep } from 'node:timers/promises';
import { startCallers } from '../support/gateway/callers';
import { startKong } from '../support/gateway/real-kong';
import { startInstance, type RunningInstance } from '../support/system/instance';
import { ownShop } from '../support/system/own-shop';
import { sendRaw, statusesOf } from '../support/gateway/raw-http';
import { useOpened } from '../support/opened';

describe('consumers', () => {
  const WEATHER = { id: 'weather', title: 'Weather', description: 'Rain.', prefix: '/weather', daily: 3, monthly: 60, openapi: undefined };
  /** By Kong's protocol and by the lane. */
  const REAL = REAL_GATEWAYS.filter((kind) => kind === 'kong' || kind === 'kong-lane');
  const KINDS: readonly AnyGateway[] = ['kong-local', 'nginx-lua', ...REAL];
  const MINUTE = 3;

  const seen: IncomingHttpHeaders[] = [];
  const folder = newFolder();
  const tollgate = useOpened(openInstallation);
  const api = useOpened(() =>
    serve(({ headers }, response) => {
      seen.push(headers);
      response.end('rain');
    }),
  );
  const gateways = useGateways(() => ({ api: api.url, kinds: KINDS, kongYml: kongYmlFor }));

  /** The shipped kong.yml with an API whose route hands over the consumer; on a real Kong with plugins that read it. */
  function kongYmlFor(kind: AnyGateway): string {
    const { block } = describeProduct({ ...WEATHER, url: api.url });
    const ours = { name: 'access-layer', config: { products: ['api-ip'], rate_limit_headers: 'gateway', consumer: true } };
    const theirs = [
      { name: 'rate-limiting', config: { minute: MINUTE, limit_by: 'consumer', policy: 'local' } },
      { name: 'file-log', config: { path: join(folder, `${kind}.log`), reopen: true } },
      { name: 'prometheus', config: { per_consumer: true, status_code_metrics: true } },
    ];
    const plugins = REAL.some((each) => each === kind) ? [ours, ...theirs] : [ours];
    return kongYmlWith({ ...block, plugins });
  }

  async function newCaller(): Promise<{ id: string; headers: Record<string, string> }> {
    const { id, key } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', daily: 100_000, monthly: 100_000 });
    return { id, headers: { 'X-API-Key': key } };
  }

  describe.each(KINDS)('%s', (kind) => {
    const ask = (headers: Record<string, string>): Promise<Reply> => send(`${gateways.get(kind)?.url ?? ''}/weather/pune`, { headers });

    it('tells the API who calls, and nothing of what the client says', async () => {
      const { id, headers } = await newCaller();
      const forged = {
        'X-Consumer-ID': 'somebody',
        'X-Consumer-Username': 'somebody',
        'X-Consumer-Groups': 'admins',
        'X-Anonymous-Consumer': 'true',
      };
      expect((await ask({ ...headers, ...forged })).status).toBe(200);
      const { 'x-consumer-id': customer, 'x-consumer-username': name, 'x-credential-identifier': credential, ...rest } = seen.at(-1) ?? {};
      expect([credential, customer]).toEqual([id, expect.stringMatching(/^[\da-f-]{36}$/)]);
      expect(name).not.toBe('somebody');
      expect([rest['x-consumer-groups'], rest['x-anonymous-consumer'], rest['x-api-key']]).toEqual([undefined, undefined, undefined]);
    });

    // The other gateways have no plugins that read a consumer.
    (REAL.some((each) => each === kind) ? it : it.skip)('limits each customer by itself, and logs who it was', async () => {
      const [one, other] = [await newCaller(), await newCaller()];
      const statuses: number[] = [];
      for (let call = 0; call <= MINUTE; call++) statuses.push((await ask(one.headers)).status);
      expect(statuses.at(-1)).toBe(429);
      expect((await ask(other.headers)).status).toBe(200);
      const log = join(folder, `${kind}.log`);
      await eventually(() => existsSync(log) && readFileSync(log, 'utf8').includes(`"id":"${one.id}"`));
      expect(readFileSync(log, 'utf8')).toMatch(/"consumer":\{[^}]*"username"/);
    });
  });
});

describe('imported keys', () => {
  const { KONG_BIN } = process.env;
  if (!KONG_BIN) console.warn('skipped: KONG_BIN names no Kong, and key-auth has no stand-in');

  const KEYS = 10_000;
  const keyOf = (caller: number): string => `shop-${caller}-7f4e11c09ab2d35586Zq`;
  const CONSUMERS = Array.from({ length: KEYS }, (_, caller) => ({
    username: `caller-${caller}@example.com`,
    keyauth_credentials: [{ key: keyOf(caller) }],
    acls: [{ group: 'customers' }],
  }));

  const OLD = [
    { name: 'key-auth' },
    { name: 'acl', config: { allow: ['customers'] } },
    { name: 'rate-limiting', config: { minute: 100_000, limit_by: 'consumer', policy: 'local' } },
  ];
  const OURS = { products: ['orders'], key_in: ['header:apikey'], rate_limit_headers: 'gateway' };
  const TRIED = { name: 'access-layer', config: { ...OURS, enforce: false } };
  const ENFORCED = { name: 'access-layer', config: OURS };

  async function succeed(instance: RunningInstance, ...words: string[]): Promise<string> {
    const { code, stdout, stderr } = await instance.cli(...words);
    if (code !== 0) throw new Error(stderr);
    return stdout;
  }

  (KONG_BIN ? it : it.skip)('keys of key-auth go on working, without a failed request, while its plugins are replaced', async () => {
    const undo: (() => unknown)[] = [closeConnections];
    try {
      const shop = ownShop();
      undo.push(() => shop.remove());
      const instance = await startInstance({ TOLLGATE_CONFIG: shop.folder });
      undo.push(() => instance.stop());
      const seen: string[] = [];
      const api = await serve(({ rawHeaders }, response) => {
        seen.push(rawHeaders.join('\n'));
        response.end('served');
      });
      undo.push(() => api.close());

      const fileWith = (plugins: readonly object[]): object => ({
        _format_version: '3.0',
        consumers: CONSUMERS,
        services: [{ name: 'orders', url: api.url, routes: [{ name: 'orders', paths: ['/orders'], plugins }] }],
      });
      const folder = newFolder();
      const settings = { pluginserver_tollgate_socket: join(instance.dataDir, 'plugin.sock') };
      const kong = await startKong({ command: KONG_BIN ?? '', folder, file: fileWith(OLD), conf: 'ours', settings });
      undo.push(() => kong.stop());
      let next = 0;
      const headers = (): Record<string, string> => ({ apikey: keyOf((next += 7) % KEYS) });
      const callers = startCallers(`${kong.url}/orders`, { count: 4, pauseMs: 20, headers });
      undo.push(() => callers.stop());
      const configure = async (...plugins: object[]): Promise<void> => {
        writeFileSync(join(folder, 'kong.yml'), JSON.stringify(fileWith(plugins)));
        await kong.reload();
        // Some requests by this configuration alone.
        await sleep(2_000);
      };

      await succeed(instance, 'product', 'new', 'orders', '--url', api.url, '--daily', '1000000', '--monthly', '10000000');
      await succeed(instance, 'catalogue', 'apply');
      const imported = await succeed(instance, 'key', 'import', join(folder, 'kong.yml'), '--product', 'orders', '--json');
      expect(JSON.parse(imported)).toMatchObject({ imported: KEYS, known: 0, refused: [] });

      await configure(...OLD, TRIED);
      expect(seen.at(-1)).not.toMatch(/x-tollgate-context/i);
      await configure(...OLD, ENFORCED);
      await configure(ENFORCED);
      const counts = await callers.stop();
      expect(Object.keys(counts)).toEqual(['200']);
      expect(counts['200']).toBeGreaterThan(500);
      expect(seen.at(-1)).toMatch(/x-tollgate-context/i);
      expect(seen.at(-1)).not.toMatch(/apikey|7f4e11c09ab2d35586Zq/i);

      const stranger = await send(`${kong.url}/orders`, { headers: { apikey: keyOf(KEYS) } });
      expect([stranger.status, stranger.json().code]).toEqual([401, 'key_unknown']);
    } finally {
      for (const each of undo.reverse()) await each();
    }
  });
});

describe('places of keys', () => {
  const WEATHER = { id: 'weather', title: 'Weather', description: 'Rain.', prefix: '/weather', daily: 3, monthly: 60, openapi: undefined };
  const KEY_IN = ['x-api-key', 'query', 'form', 'header:apikey', 'header:x-shop-key', 'query:apikey', 'query:shop-key'];

  let key: string;
  const seen: IncomingMessage[] = [];
  const tollgate = useOpened(openInstallation);
  const api = useOpened(() =>
    serve((request, response) => {
      seen.push(request);
      request.resume().on('end', () => response.end('rain'));
    }),
  );
  const gateways = useGateways(() => {
    const { block } = describeProduct({ ...WEATHER, url: api.url });
    const plugins = [{ name: 'access-layer', config: { products: ['api-ip'], key_in: KEY_IN } }];
    return { api: api.url, kinds: EVERY_GATEWAY, kongYml: kongYmlWith({ ...block, plugins }) };
  });
  beforeAll(async () => {
    ({ key } = await tollgate.createKey({ products: ['api-ip'], mode: 'test', daily: 100_000, monthly: 100_000 }));
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
});
