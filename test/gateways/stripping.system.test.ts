import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { describeProduct } from '../../cli/commands/new-product';
import { answerLineIn, parseAnswerLine } from '../../plugins/core/access/answer-line';
import { FORGEABLE } from '../../plugins/core/access/request-variable';
import { openInstallation } from '../acceptance/installation';
import { statusesOf, sendRaw } from '../support/gateway/raw-http';
import { eventually } from '../support/eventually';
import { send, type Sending, serve } from '../support/http';
import { firstOf, inTestAll } from '../support/scenes';
import { EVERY_GATEWAY, kongYmlWith, useGateways } from './support/every-gateway';
import { useOpened } from '../support/opened';

let key: string;
const WEBSOCKET_KEY = 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==';
const seen: IncomingMessage[] = [];
const upgraded: IncomingMessage[] = [];
/** What gateways tell of their answers. */
const witness = createSocket('udp4');
const told: string[] = [];

const tollgate = useOpened(openInstallation);
const api = useOpened(() =>
  serve((request, response) => {
    seen.push(request);
    const units = /^\/units\/(.*)$/.exec(request.url ?? '')?.[1];
    if (units !== undefined) response.setHeader('X-Units', units.split('+'));
    request.resume().on('end', () => response.end());
  }),
);
beforeAll(async () => {
  ({ key } = await tollgate.createKey({ products: ['api-ip', 'api-grank', 'api-image'], mode: 'test', daily: 100_000, monthly: 100_000 }));
  // Takes every protocol that it is offered, and closes.
  api.server.on('upgrade', (request, socket) => {
    upgraded.push(request);
    // The answer to the key of RFC 6455, section 1.3, which the test sends.
    const accept = 'Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=';
    const protocol = request.headers['upgrade'] ?? '';
    socket.end(`HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${protocol}\r\n${accept}\r\n\r\n`);
  });
  witness.on('message', (datagram) => told.push(answerLineIn(datagram) ?? ''));
  witness.bind(0, '127.0.0.1');
  await once(witness, 'listening');
});
const gateways = useGateways(() => {
  const plugins = [{ name: 'access-layer', config: { products: ['api-ip'], rate_limit_headers: 'gateway' } }];
  // Nobody listens on port 1.
  const storms = { ...WEATHER, id: 'storms', prefix: '/storms', url: 'http://127.0.0.1:1' };
  const own = [{ ...WEATHER, url: api.url }, storms].map((product) => ({ ...describeProduct(product).block, plugins }));
  return { api: api.url, kinds: EVERY_GATEWAY, kongYml: kongYmlWith(...own), answersTo: `127.0.0.1:${witness.address().port}` };
});
afterAll(() => witness.close());

beforeEach(() => void (seen.length = 0));

const WEATHER = { id: 'weather', title: 'Weather', description: 'Rain.', prefix: '/weather', daily: 3, monthly: 60, openapi: undefined };

/** What an API and its caller see of one request, the same behind every gateway: `ours` stands for what is another one each time. */
type Seen = Readonly<Record<'request' | 'answer', Record<string, unknown>>>;

async function seenBehind(url: string): Promise<Seen[]> {
  const origin = new URL(url).host;
  const bearer = { Authorization: `Bearer ${key}`, 'Content-Type': 'application/json' };
  const sent: [string, Sending][] = [
    ['/weather', { headers: { 'X-API-Key': key } }],
    [`/weather/pune?days=2&api_key=${key}&u=http://x/?y`, {}],
    ['/weather/a%20b;c=d', { headers: { 'X-API-Key': key, Cookie: 'a=1', 'X-Tollgate-Customer': 'forged' } }],
    ['/weather/', { method: 'POST', headers: bearer, body: '{"city":"pune"}' }],
  ];
  const rows: Seen[] = [];
  for (const [target, sending] of sent) {
    seen.length = 0;
    const answer = await send(url + target, sending);
    const request = seen.at(-1);
    const { host, cookie, authorization, 'content-type': type, 'content-length': length } = request?.headers ?? {};
    const read = (name: string): unknown => request?.headers[name];
    const id = answer.headers['x-kong-request-id'];
    rows.push({
      request: {
        line: `${request?.method} ${request?.url}`,
        ...{ host, cookie, authorization, type, length },
        caller: [read('x-real-ip'), read('x-forwarded-for'), read('x-forwarded-proto')],
        askedFor: String(read('x-forwarded-host')).split(':')[0] === origin.split(':')[0],
        id: read('x-kong-request-id') === id && /^[0-9a-f]{32}$/.test(String(id)),
        ours: Object.keys(request?.headers ?? {}).filter((name) => /tollgate|api-key/.test(name)),
        isKeyGone: !JSON.stringify(request?.rawHeaders).includes(key),
      },
      answer: {
        status: answer.status,
        limit: String(answer.headers['ratelimit']).replace(/\d+/g, 'N'),
        policy: answer.headers['ratelimit-policy'],
        text: answer.text,
      },
    });
  }
  return rows;
}

/** Each character as its percent escape. */
const escaped = (text: string): string => Array.from(Buffer.from(text), (byte) => `%${byte.toString(16).toUpperCase()}`).join('');

/** What the proof says; services verify it, this test only reads. */
const claimsOf = (request: IncomingMessage | undefined): unknown =>
  JSON.parse(Buffer.from(String(request?.headers['x-tollgate-context']).split('.')[1] ?? '', 'base64url').toString());

describe.each(EVERY_GATEWAY)('what a service sees behind %s', (kind) => {
  const url = (): string => gateways.get(kind)?.url ?? '';

  /** @param target of a GET, or a method and its target */
  async function ask(target: string, headers: readonly string[] = [], connection: readonly string[] = ['Connection: close']) {
    seen.length = 0;
    upgraded.length = 0;
    const line = target.startsWith('/') ? `GET ${target}` : target;
    const lines = [`${line} HTTP/1.1`, 'Host: api.example', ...connection, ...headers, '', ''];
    const answer = await sendRaw(url(), lines.join('\r\n').replaceAll('KEY', key));
    return { status: statusesOf(answer)[0], last: seen.at(-1) };
  }

  it.each([
    ['/ip?api_key=KEY', '/ip'],
    ['/ip?api_key=KEY&a=1', '/ip?a=1'],
    ['/ip?a=1&api_key=KEY&b=2', '/ip?a=1&b=2'],
    ['/ip?a=1&%61pi_%6Bey=KEY', '/ip?a=1'],
    ['/ip?x=%zz&api_key=KEY&e=+%2b&&f&g=a=b;c', '/ip?x=%zz&e=+%2b&&f&g=a=b;c'],
    ['/ip/a%20b;c=d?api_key=KEY&u=http://x/?y', '/ip/a%20b;c=d?u=http://x/?y'],
    ['/ip?a={http.request.host}&api_key=KEY', '/ip?a={http.request.host}'],
    ['/ip?a=KEY&api_key=KEY&b=xKEY', '/ip?a=&b=x'],
  ])('of %s is %s', async (sent, expected) => {
    const { status, last } = await ask(sent);
    expect([status, last?.url]).toEqual([200, expected]);
    expect(JSON.stringify(last?.rawHeaders)).not.toContain(key);
  });

  it.each(['/ip/..&api_key=KEY?..&api_key=KEY', '/ip/%2e%2e/gst?api_key=KEY', '/ip/..%2fgst?api_key=KEY'])(
    'of %s is nothing, or a path below the route without the key',
    async (sent) => {
      const { last } = await ask(sent);
      const path = last?.url?.split('?')[0] ?? '/ip/';
      expect(path).toMatch(/^\/ip\//);
      expect(path.split('/')).not.toContain('..');
      expect(path).not.toContain('/gst');
    },
  );

  it.each(['/grank/grid', '/grank/gri%64', '/grank//grid', '/grank/./grid'])(
    'of the dearer route %s is nothing, or a request at its price',
    async (path) => {
      const { status, last } = await ask(`POST ${path}`, ['X-API-Key: KEY', 'Content-Length: 0']);
      if (last === undefined && path !== '/grank/grid') expect([400, 404]).toContain(status);
      else expect(claimsOf(last)).toMatchObject({ units: 49 });
    },
  );

  it.each([['X-API-Key: KEY'], ['Authorization: Bearer KEY'], ['authorization: BEARER  KEY']])(
    'holds no key that came as %s',
    async (header) => {
      const { status, last } = await ask('/ip', [header, 'Accept: a/b']);
      expect([status, last?.headers['accept']]).toEqual([200, 'a/b']);
      expect(JSON.stringify(last?.rawHeaders)).not.toContain(key);
      expect(last?.headers['x-tollgate-context']).toEqual(expect.any(String));
    },
  );

  const protocols: readonly (readonly [string, readonly string[]])[] = [
    ['h2c', ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA']],
    ['h2c beside a WebSocket', ['Connection: Upgrade', 'Upgrade: websocket, h2c']],
    ['h2c and a WebSocket in two headers', ['Connection: Upgrade', 'Upgrade: websocket', 'Upgrade: h2c']],
    ['h2c before a WebSocket', ['Connection: Upgrade', 'Upgrade: h2c', 'Upgrade: websocket']],
    ['another protocol', ['Connection: upgrade', 'Upgrade: tollgate/1']],
  ];
  it.each(firstOf(protocols, 2))('is no upgrade to %s, though the service would take it', async (_what, headers) => {
    const { last } = await ask('/ip', ['X-API-Key: KEY', ...headers, WEBSOCKET_KEY], []);
    expect(upgraded.map(({ headers: { upgrade } }) => upgrade).filter((protocol) => protocol !== 'websocket')).toEqual([]);
    expect([last?.headers['upgrade'], last?.headers['http2-settings']]).toEqual([undefined, undefined]);
  });

  it('is an upgrade to a WebSocket', async () => {
    const handshake = ['Upgrade: WebSocket', 'Sec-WebSocket-Version: 13', WEBSOCKET_KEY];
    const { status } = await ask('/ip', ['X-API-Key: KEY', 'Connection: keep-alive, Upgrade', ...handshake], []);
    expect([status, upgraded.map(({ headers }) => headers['upgrade']?.toLowerCase())]).toEqual([101, ['websocket']]);
    expect(upgraded[0]?.headers['x-tollgate-context']).toEqual(expect.any(String));
  });

  const connections: readonly (readonly [string, readonly string[]])[] = [
    ['close, X-Tollgate-Context', []],
    ['Upgrade, X-Tollgate-Context', ['Upgrade: websocket', 'Sec-WebSocket-Version: 13', WEBSOCKET_KEY]],
    ['X-Tollgate-Context', []],
    ['keep-alive, x-tollgate-context, X-Kong-Request-Id', []],
  ];
  it.each(firstOf(connections, 2))('has the proof when Connection names it, or is none: %s', async (connection, handshake) => {
    const { status, last } = await ask('/ip', ['X-API-Key: KEY', `Connection: ${connection}`, ...handshake], []);
    const reached = upgraded.at(-1) ?? last;
    if (reached === undefined) expect(status).toBe(400);
    else expect(reached.headers['x-tollgate-context']).toEqual(expect.any(String));
  });

  it('holds no copy of the key in a cookie, Referer or another parameter', async () => {
    const { status, last } = await ask('/ip?a=1&b=KEY', ['X-API-Key: KEY', 'Cookie: a=1; k=KEY', 'Referer: https://a.example/?k=KEY']);
    expect([status, last?.url]).toEqual([200, '/ip?a=1&b=']);
    expect(JSON.stringify(last?.rawHeaders)).not.toContain(key);
  });

  it.each([
    ['in whole', (text: string) => escaped(text)],
    ['in lower case', (text: string) => escaped(text).toLowerCase()],
    ['in part', (text: string) => escaped(text.slice(0, 9)) + text.slice(9, 30) + escaped(text.slice(30))],
    ['twice', (text: string) => escaped(text).replaceAll('%', '%25')],
  ])('holds no copy of the key with its characters escaped %s', async (_how, escape) => {
    const copy = escape(key);
    const headers = ['X-API-Key: KEY', `Cookie: a=1; k=${copy}`, `Referer: https://a.example/?k=${copy}`];
    const { status, last } = await ask(`/ip?a=1&b=${copy}&c=x${copy}y&${copy}=d&e=%41`, headers);
    expect([status, last?.url, last?.headers['cookie'], last?.headers['referer']]).toEqual([
      200,
      '/ip?a=1&b=&c=&&e=%41',
      undefined,
      undefined,
    ]);
  });

  it('holds cookies, Referer and an Authorization of its own as they came, and no header that nobody sent', async () => {
    const { last } = await ask('/ip', ['X-API-Key: KEY', 'Cookie: a=1; b=2', 'Referer: https://a.example/', 'Authorization: Basic dTpw']);
    const { cookie, referer, authorization, traceparent } = last?.headers ?? {};
    expect([cookie, referer, authorization, traceparent]).toEqual(['a=1; b=2', 'https://a.example/', 'Basic dTpw', undefined]);
    expect(JSON.stringify(last?.rawHeaders)).not.toContain('{http.');
    expect((await ask('/ip', ['X-API-Key: KEY'])).last?.headers).not.toHaveProperty('authorization');
  });

  it('is nothing of a body that does not end, and its sender is refused at once', async () => {
    const head = ['POST /ip HTTP/1.1', 'Host: api.example', 'Content-Type: application/json'];
    for (const framing of [
      ['Transfer-Encoding: chunked', '', '5', 'hello', ''],
      ['Content-Length: 100', '', 'hello'],
    ]) {
      seen.length = 0;
      const answer = await sendRaw(url(), [...head, ...framing].join('\r\n'));
      expect([statusesOf(answer), seen.map((request) => request.url)]).toEqual([[401], []]);
    }
  });

  it('holds no word of the client in the gateway’s name', async () => {
    const spellings = (name: string): string[] => [`X-Tollgate-${name}`, `x_tollgate_${name.replaceAll('-', '_')}`];
    const forged = [...FORGEABLE, 'gateway'].flatMap(spellings).map((name) => `${name}: forged`);
    const { status, last } = await ask('/ip', ['X-API-Key: KEY', 'X_API_Key: KEY', ...forged]);
    expect(status).toBe(200);
    expect(last?.rawHeaders.join('\n')).not.toMatch(/forged/);
    expect(JSON.stringify(last?.rawHeaders)).not.toContain(key);
    const names = Object.keys(last?.headers ?? {}).filter((name) => /tollgate/.test(name));
    expect(names).toEqual(['x-tollgate-context']);
  });

  it('is nothing where a name of the gateway’s is none that is removed', async () => {
    const { status, last } = await ask('/ip', ['X-API-Key: KEY', 'X-Tollgate-Anything: forged']);
    // Kong's plugin removes the names that it knows: any other means nothing to a service, and is a header like all others.
    if (!kind.startsWith('kong')) expect(last === undefined || !JSON.stringify(last.rawHeaders).includes('forged')).toBe(true);
    expect([200, 400]).toContain(status);
  });
});

/** Sends `first`, then a byte of `rest` at a time. @returns the answer or, if there is none, the end of the connection, and what was not sent by then */
async function trickle(url: string, first: string, rest: string, pauseMs: number): Promise<{ answer: string; unsent: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  let unsent = rest;
  socket.on('error', () => undefined);
  socket.write(first);
  const drip = setInterval(() => {
    socket.write(unsent.slice(0, 1));
    unsent = unsent.slice(1);
  }, pauseMs);
  // A gateway that leaves may reset the connection before its answer was read.
  const answer = await new Promise<string>((done) => {
    socket.once('data', (chunk) => done(String(chunk)));
    socket.once('close', () => done(''));
  });
  clearInterval(drip);
  socket.destroy();
  return { answer, unsent };
}

// The stand-in's are in test/gateway/slow-forms, the access layer's own limit in test/access-layer.
inTestAll('behind every gateway a form without a key is left once it comes too slowly, and an upload with one is not', async () => {
  const form =
    'POST /ip HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 42\r\n\r\na=';
  const upload = `POST /image/background_remover HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX-API-Key: ${key}\r\nContent-Length: 3\r\n\r\nab`;
  const rest = 'x'.repeat(40);
  const results = await Promise.all(
    EVERY_GATEWAY.map(async (kind) => {
      const { url = '' } = gateways.get(kind) ?? {};
      // sendRaw gives up after 10 s without an answer.
      const [idle, slow, sent] = await Promise.all([sendRaw(url, form), trickle(url, form, rest, 1_000), trickle(url, upload, 'c', 6_000)]);
      const others = [idle, slow.answer].flatMap(statusesOf).filter((status) => status !== 401);
      // Kong's PDK hands a plugin the whole form or nothing: each of its bytes may come 5 s after the last.
      const isLeft = kind === 'kong' || slow.unsent.length > 20;
      return [kind, others, isLeft, statusesOf(sent.answer)] as const;
    }),
  );
  expect(results).toEqual(EVERY_GATEWAY.map((kind) => [kind, [], true, [200]]));
});

it('arrives alike at an API of the seller’s own behind each gateway, and is answered alike', async () => {
  const expected = await seenBehind(gateways.get('kong-local')?.url ?? '');
  expect(expected.map(({ request }) => request)).toEqual([
    expect.objectContaining({ line: 'GET /', ours: ['x-tollgate-context'], isKeyGone: true, id: true }),
    expect.objectContaining({ line: 'GET /pune?days=2&u=http://x/?y' }),
    expect.objectContaining({ line: 'GET /a%20b;c=d', cookie: 'a=1' }),
    expect.objectContaining({ line: 'POST /', type: 'application/json', length: '15' }),
  ]);
  for (const { answer } of expected) expect(answer).toMatchObject({ status: 200, limit: expect.stringContaining('"daily";r=N') });
  for (const [kind, { url }] of gateways) expect([kind, await seenBehind(url)]).toEqual([kind, expected]);
});

it('says behind each gateway that the API did not answer, with status and request id, as far as the gateway lets us', async () => {
  const said = await Promise.all(
    EVERY_GATEWAY.map(async (kind) => {
      const answer = await send(`${gateways.get(kind)?.url}/storms/now`, { headers: { 'X-API-Key': key } });
      const { code, detail, status, request_id: id } = answer.json();
      const isAlike = /^50[23]$/.test(String(answer.status)) && code === 'gateway_error' && id === answer.headers['x-kong-request-id'];
      // Kong has one template for all statuses, without a place for the status: docs/codes.md.
      if (kind.startsWith('kong'))
        return [kind, isAlike && /For a 5xx status the gateway or a service failed, not the request/.test(detail)];
      const isProblem = answer.headers['content-type'] === 'application/problem+json' && status === answer.status;
      const isBack = kind.startsWith('nginx') === /given back, up to a tenth of your daily limit/.test(detail);
      return [kind, (isAlike && isProblem && isBack && /^The API behind this route did not answer\./.test(detail)) || answer.text];
    }),
  );
  expect(said).toEqual(EVERY_GATEWAY.map((kind) => [kind, true]));
});

it('tells the plugin server what the API says that its answer costs, and the caller nothing of it', async () => {
  const sent = [
    '/weather/pune',
    '/weather/units/17',
    '/weather/units/0',
    `/weather/units/${'9'.repeat(30)}`,
    `/weather/units/${'9'.repeat(31)}`,
    '/weather/units/many',
    '/weather/units/17+5',
    '/weather/units/17,5',
  ];
  const rows = await Promise.all(
    EVERY_GATEWAY.map(async (kind) => {
      const row: unknown[] = [];
      for (const path of sent) {
        const { status, headers } = await send(gateways.get(kind)?.url + path, { headers: { 'X-API-Key': key } });
        const id = String(headers['x-kong-request-id']);
        // The lane tells by its own socket: test/entrances/lane/lane-gateway.
        if (kind === 'nginx-lua') {
          row.push([status, headers['x-units']]);
          continue;
        }
        await eventually(() => told.some((line) => line.startsWith(id)));
        const units = parseAnswerLine(told.find((line) => line.startsWith(id)) ?? '')?.units;
        // What is no number that counts is passed on by some, and costs what was taken before.
        row.push([status, headers['x-units'], /^\d{1,30}$/.test(units ?? '') ? units : undefined]);
      }
      return [kind, row];
    }),
  );
  // Of two lines, as of a list in one, the first counts.
  const costs = [undefined, '17', '0', '9'.repeat(30), undefined, undefined, '17', '17'].map((units) => [200, undefined, units]);
  expect(rows).toEqual(EVERY_GATEWAY.map((kind) => [kind, kind === 'nginx-lua' ? costs.map((each) => each.slice(0, 2)) : costs]));
});
