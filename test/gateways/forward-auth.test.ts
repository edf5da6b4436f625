import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ForwardAuthServer } from '../../plugins/entrances/forward-auth/forward-auth-server';
import { generateApiKey } from '../../plugins/core/access/api-key';
import { StoreUnavailable } from '../../plugins/core/ports';
import { type Verdict } from '../../plugins/core/access/verdict';
import { compileWhitelist } from '../../plugins/core/access/whitelist';
import { failing, key, proofIn, recordOf } from '../access-layer/call-plugin';
import { stagePlugin, type StagedPlugin } from './support/entrance-stage';

const SECRET = 'a secret that gateway and plugin server share';

interface Answer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: string;
}

let folder: string;
let server: ForwardAuthServer | undefined;

/** Where questions go. */
let target: { socketPath: string } | { host: string; port: number };

beforeAll(() => void (folder = mkdtempSync(join(tmpdir(), 'forward-auth-'))));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
beforeEach(() => serve());
afterEach(() => server?.close({ graceMs: 0 }));

/** In place of what was served before. */
async function serve(staged: StagedPlugin = stagePlugin()): Promise<void> {
  await server?.close({ graceMs: 0 });
  target = { socketPath: join(folder, 's.sock') };
  server = new ForwardAuthServer({ plugin: staged.plugin, listen: { path: target.socketPath }, secret: undefined, log: staged.log });
  await server.listen();
}

type Headers = readonly (readonly [string, string])[];

function ask(path: string, headers: Headers, body?: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const all = [['Host', 'authorizer'], ...headers, ...(body === undefined ? [] : [['Content-Length', String(body.length)]])];
    const outgoing = httpRequest({ ...target, path, agent: false, headers: all.flat() }, (response) => {
      let text = '';
      response.on('data', (chunk) => (text += String(chunk)));
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    outgoing.on('error', reject);
    outgoing.end(body);
  });
}

const of = (uri: string, ...more: Headers): Headers => [['X-Forwarded-Uri', uri], ['X-Forwarded-For', '203.0.113.7'], ...more];
const withKey = ['X-API-Key', key] as const;
const codeOf = ({ body }: Answer): unknown => (JSON.parse(body) as { code: unknown }).code;

describe('an admitted request', () => {
  it('is 200 with the proof, and with where to ask the service without the key', async () => {
    const answer = await ask('/caddy/authorize/api-ip', of(`/ip?a=1&%61pi_key=${key}&b=%zz`));
    expect([answer.status, answer.headers['x-tollgate-uri']]).toEqual([200, '/ip?a=1&b=%zz']);
    expect(proofIn({ set: { 'X-Tollgate-Context': String(answer.headers['x-tollgate-context']) } })).toMatchObject({
      ok: true,
      context: { product: 'api-ip', callerAddress: '203.0.113.7' },
    });
  });

  it('had its key in a header or a parameter that the route names', async () => {
    const route = '/nginx/authorize/api-ip;key_in=header:shop-key,query:shop-key';
    const header = await ask(route, of('/ip?a=1', ['Shop-Key', key]));
    const query = await ask(route, of(`/ip?a=1&shop%2Dkey=${key}`));
    expect([header.status, query.status, query.headers['x-tollgate-uri']]).toEqual([200, 200, '/ip?a=1']);
    const twin = await ask('/caddy/authorize/api-ip;key_in=x-api-key,header:shop-key', of('/ip', withKey, ['Shop_Key', key]));
    const generic = await ask('/authorize/api-ip;key_in=query:shop-key', of(`/ip?shop-key=${key}`));
    expect([codeOf(twin), codeOf(generic)]).toEqual(['request_not_readable', 'request_not_readable']);
  });

  it('keeps an Authorization that is not the key’s, and loses one that is', async () => {
    const basic = await ask('/authorize/api-ip', of('/ip', withKey, ['Authorization', 'Basic dTpw']));
    const bearer = await ask('/authorize/api-ip', of('/ip', ['Authorization', `Bearer ${key}`]));
    expect([basic.headers['x-tollgate-authorization'], bearer.headers['x-tollgate-authorization']]).toEqual(['Basic dTpw', undefined]);
    expect([basic.status, bearer.status]).toEqual([200, 200]);
  });

  it('tells the limits where the route asks for them', async () => {
    const answer = await ask('/authorize/api-ip;rate_limit_headers=gateway', of('/ip', withKey));
    expect(answer.headers['ratelimit']).toContain('"daily";r=1');
  });

  it('has the id that the gateway gave, where its profile says that it gives one', async () => {
    const staged = stagePlugin();
    await serve(staged);
    const id = '0123456789abcdef0123456789abcdef';
    await ask('/nginx/authorize/api-ip', of('/ip', withKey, ['X-Request-Id', id]));
    await ask('/authorize/api-ip', of('/ip', withKey, ['X-Request-Id', id]));
    expect(staged.decisions.map(({ requestId }) => requestId === id)).toEqual([true, false]);
  });
});

describe('a refused request', () => {
  it('is answered as the caller is to see it', async () => {
    const answer = await ask('/authorize/api-ip', of('/ip'));
    expect([answer.status, codeOf(answer), answer.headers['content-type']]).toEqual([401, 'key_missing', 'application/problem+json']);
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="tollgate"');
    expect(answer.headers['x-tollgate-context']).toBeUndefined();
  });

  it('is 403 with its parts in headers for nginx, which passes nothing else on', async () => {
    for (let left = 2; left > 0; left--) await ask('/authorize/api-ip', of('/ip', withKey));
    const answer = await ask('/nginx/authorize/api-ip', of('/ip', withKey));
    expect([answer.status, answer.body, answer.headers['x-tollgate-status']]).toEqual([403, '', '429']);
    expect(JSON.parse(String(answer.headers['x-tollgate-problem']))).toMatchObject({ code: 'quota_daily_exceeded' });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });

  it.each<[string, Headers]>([
    ['a repeated key', [withKey, withKey]],
    ['two keys in two places', [withKey, ['Authorization', `Bearer ${generateApiKey('live')}`]]],
    ['a repeated Authorization', [['Authorization', `Bearer ${key}`], ['Authorization', 'Basic dTpw']]], // prettier-ignore
  ])('has %s judged as Kong’s entrance judges it', async (_, headers) => {
    expect(codeOf(await ask('/authorize/api-ip', of('/ip', ...headers)))).toBe('ambiguous_key');
  });

  it('of a key for another product names that product’s absence', async () => {
    expect(codeOf(await ask('/authorize/api-gst', of('/gst', withKey)))).toBe('product_not_authorised');
    expect((await ask('/authorize/api-gst,api-ip', of('/x', withKey))).status).toBe(200);
  });

  it('finds no key in a form, and no body is read', async () => {
    const form = ['Content-Type', 'application/x-www-form-urlencoded'] as const;
    expect(codeOf(await ask('/authorize/api-ip', of('/ip', form)))).toBe('key_missing');
    expect((await ask('/authorize/api-ip', of('/ip', form), `api_key=${key}`)).status).toBe(503);
  });
});

describe('a browser’s preflight', () => {
  const preflight = [['Origin', 'https://app.example.com'], ['Access-Control-Request-Method', 'POST'], ['X-Forwarded-Method', 'OPTIONS']] as const; // prettier-ignore

  it.each(['nginx', 'caddy', 'haproxy'])('has an answer behind %s, which lets nothing pass', async (gateway) => {
    const answer = await ask(`/${gateway}/authorize/api-ip`, of('/ip', ...preflight));
    expect([answer.status, answer.headers['x-tollgate-status']]).toEqual([403, '200']);
    expect(answer.headers['access-control-allow-methods']).toContain('POST');
  });

  it('is refused behind a gateway that has no way to answer it', async () => {
    const answer = await ask('/authorize/api-ip', of('/ip', ...preflight));
    expect([answer.status, codeOf(answer)]).toEqual([401, 'key_missing']);
  });
});

describe('the caller’s address', () => {
  const fenced = (): StagedPlugin => stagePlugin(recordOf({ whitelist: compileWhitelist(['203.0.113.7']) }));

  it('is the one that the gateway added, never one that the client wrote before it', async () => {
    await serve(fenced());
    const asked = async (forwarded: string): Promise<number> =>
      (await ask('/authorize/api-ip', [['X-Forwarded-Uri', '/ip'], ['X-Forwarded-For', forwarded], withKey])).status; // prettier-ignore
    expect(await asked('203.0.113.7')).toBe(200);
    expect(await asked('203.0.113.7, 198.51.100.9')).toBe(401);
    expect(await asked('198.51.100.9, 203.0.113.7')).toBe(200);
    expect(await asked('unknown')).toBe(503);
  });

  it('is believed over TCP only from who knows the secret', async () => {
    const { plugin, log, logged } = fenced();
    await server?.close({ graceMs: 0 });
    server = new ForwardAuthServer({ plugin, listen: { host: '127.0.0.1', port: 0 }, secret: SECRET, log });
    await server.listen();
    target = { host: '127.0.0.1', port: server.port ?? 0 };
    const asked = async (...headers: Headers): Promise<number> => (await ask('/authorize/api-ip', of('/ip', withKey, ...headers))).status;
    expect(await asked(['X-Tollgate-Gateway', SECRET])).toBe(200);
    expect(await asked()).toBe(503);
    expect(await asked(['X-Tollgate-Gateway', `${SECRET}x`])).toBe(503);
    expect(await asked(['X-Tollgate-Gateway', SECRET], ['X-Tollgate-Gateway', SECRET])).toBe(503);
    expect(JSON.stringify(logged)).not.toContain(SECRET);
  });

  it('over TCP without a secret there is no entrance', () => {
    const { plugin, log } = stagePlugin();
    const listen = { host: '127.0.0.1', port: 0 };
    expect(() => new ForwardAuthServer({ plugin, listen, secret: undefined, log })).toThrow(/GATEWAY_SECRET/);
  });
});

describe('what no gateway could pass on safely is refused, and costs nothing', () => {
  it.each(['/ip/..%2fgst', '/ip/%5c..', '/ip%00', '/ip/..;/gst', '/../ip', '/ip//x', '/./ip', '/ip/%2e%2e/gst', '/grank/gri%64'])(
    'the path %s',
    async (path) => {
      const staged = stagePlugin();
      await serve(staged);
      const answer = await ask('/authorize/api-ip', of(path, withKey));
      expect([answer.status, codeOf(answer), staged.decisions]).toEqual([400, 'ambiguous_path', []]);
    },
  );

  it.each([
    ['nginx', '/a/..//ip/./', 200, '/ip/'],
    ['nginx', '/i%70', 200, '/i%70'],
    ['haproxy', '/i%70', 400, undefined],
    ['haproxy', '/ip/a%20b%C3%A4', 200, '/ip/a%20b%C3%A4'],
  ])('unless the gateway, %s, resolves and decodes paths such as %s before it chooses a route', async (gateway, path, status, uri) => {
    const answer = await ask(`/${gateway}/authorize/api-ip`, of(path, withKey));
    expect([answer.status, answer.headers['x-tollgate-uri']]).toEqual([status, uri]);
  });

  it.each([
    ['generic', 'X-Tollgate-Context', 200],
    ['generic', 'X_Tollgate_Context', 400],
    ['generic', 'X_API_Key', 400],
    ['caddy', 'X_Tollgate_Customer', 200],
    ['caddy', 'X-Tollgate-Anything', 400],
  ])('a header in the gateway’s own name space that no configuration of %s removes: %s', async (gateway, name, status) => {
    expect((await ask(`/${gateway}/authorize/api-ip`, of('/ip', withKey, [name, 'x']))).status).toBe(status);
  });

  it.each<[string, Headers]>([
    ['a key in the query', of(`/ip?api_key=${key}`, withKey)],
    ['a key in the query under a name in disguise', of(`/ip?%61pi_key=${key}`, withKey)],
    ['the name of a key in the query', of('/ip?api_key', withKey)],
    ['a copy of the key in the query', of(`/ip?other=${key}`, withKey)],
    ['a copy of the key in a cookie', of('/ip', withKey, ['Cookie', `a=1; k=${key}`])],
    ['a copy of the key in the Referer', of('/ip', withKey, ['Referer', `https://a.example/?k=${key}`])],
  ])('%s, where the gateway takes none off', async (_, headers) => {
    expect(codeOf(await ask('/authorize/api-ip', headers))).toBe('request_not_readable');
  });
});

describe('copies of the key', () => {
  it.each<[string, Headers, (string | undefined)[]]>([
    ['the query', of(`/ip?a=${key}&b=x${key}&c=1&api_key=${key}`), ['/ip?a=&b=x&c=1', undefined]],
    ['a cookie', of('/ip', withKey, ['Cookie', `a=1; k=${key}`], ['Referer', 'https://a.example/']), ['/ip', 'cookie']],
    [
      'cookies and Referer',
      of('/ip', withKey, ['Cookie', 'a=1'], ['Cookie', `k=${key}`], ['Referer', `https://a.example/?k=${key}`]),
      ['/ip', 'cookie referer'],
    ],
  ])('in %s are taken off, or the gateway is told which headers hold one', async (_, headers, expected) => {
    const answer = await ask('/nginx/authorize/api-ip', headers);
    expect([answer.status, answer.headers['x-tollgate-uri'], answer.headers['x-tollgate-remove']]).toEqual([200, ...expected]);
  });
});

describe('nobody is admitted', () => {
  it.each<[string, string, Headers]>([
    ['an unknown path', '/other/api-ip', of('/ip', withKey)],
    ['no product', '/authorize/', of('/ip', withKey)],
    ['what is no id of a product', '/authorize/API_NOPE', of('/ip', withKey)],
    ['an unknown gateway', '/iis/authorize/api-ip', of('/ip', withKey)],
    ['an unknown setting', '/authorize/api-ip;quoat=false', of('/ip', withKey)],
    ['a header with another meaning for the key', '/authorize/api-ip;key_in=header:host', of('/ip', withKey)],
    ['a place for keys that is not handed over', '/authorize/api-ip;key_in=form', of('/ip', withKey)],
    ['the client’s own query', `/authorize/api-ip?a=1`, of('/ip', withKey)],
    ['no word on what is asked for', '/authorize/api-ip', [['X-Forwarded-For', '203.0.113.7'], withKey]], // prettier-ignore
    ['two words on what is asked for', '/authorize/api-ip', of('/ip', withKey, ['X-Forwarded-Uri', '/other'])],
    ['no address', '/authorize/api-ip', [['X-Forwarded-Uri', '/ip'], withKey]], // prettier-ignore
  ])('when a gateway’s configuration has %s', async (_, path, headers) => {
    expect((await ask(path, headers)).status).toBe(503);
  });

  it('when the store fails', async () => {
    await serve(stagePlugin(recordOf(), { records: failing(new StoreUnavailable('gone')) }));
    const answer = await ask('/authorize/api-ip', of('/ip', withKey));
    expect([answer.status, codeOf(answer)]).toEqual([503, 'access_layer_unavailable']);
  });

  it('when the access layer finds no verdict', async () => {
    const staged = stagePlugin();
    class Lost extends staged.plugin.Plugin {
      override decide(): Promise<Verdict> {
        return Promise.reject(new Error('lost'));
      }
    }
    await serve({ ...staged, plugin: { ...staged.plugin, Plugin: Lost } });
    expect((await ask('/authorize/api-ip', of('/ip', withKey))).status).toBe(503);
  });

  it('by a head that is too large to be read whole', async () => {
    const answer = await ask('/authorize/api-ip', of('/ip', withKey, ['X-Filler', 'x'.repeat(60_000)]));
    expect([answer.status, codeOf(answer)]).toEqual([400, 'request_not_readable']);
  });

  it('by a head that is too large, of which a gateway may write the rest after the refusal', async () => {
    const socket = connect({ path: join(folder, 's.sock'), allowHalfOpen: true });
    const heard = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))));
    socket.write(`GET /caddy/authorize/api-ip HTTP/1.1\r\nHost: a\r\nX-Filler: ${'x'.repeat(66_000)}`);
    expect((await heard).slice(9, 12)).toBe('400');
    await once(socket, 'end');
    for (let piece = 0; piece < 3; piece++)
      await new Promise<void>((resolve, reject) => socket.write('x'.repeat(2_000), (error) => (error ? reject(error) : resolve())));
    socket.end();
    await once(socket, 'close');
  });

  it.each(['nginx', 'haproxy', 'caddy', 'unknown'])(
    'by a header with a control character, which %s reports as the caller’s mistake',
    async (kind) => {
      const id = '0123456789abcdef0123456789abcdef';
      const head = [
        `GET /${kind}/authorize/api-ip HTTP/1.1`,
        'Host: a',
        'X-Forwarded-Uri: /ip',
        `X-Request-Id: ${id}`,
        `X-API-Key: ${key}`,
      ];
      const socket = connect(join(folder, 's.sock'));
      socket.end([...head, 'X-Odd: a\u0001b', '', ''].join('\r\n'));
      const text = (await socket.toArray()).join('');
      const isNamed = kind === 'nginx' || kind === 'haproxy';
      expect([text.slice(9, 12), /x-tollgate-status: 400/i.test(text), text.includes(id)]).toEqual([
        kind === 'nginx' ? '403' : '400',
        kind === 'nginx',
        isNamed,
      ]);
      expect(text).toContain('"code":"request_not_readable"');
    },
  );
});
