import { join } from 'node:path';
import { readFileSync } from 'node:fs';
import { TrustedProxies } from '../../kong/local/http/trusted-proxies';
import { decodeString } from '../../plugins/server/wire/pdk-messages';
import { encodeMessage, messageType } from '../support/gateway/kong-messages';
import { send } from '../support/http';
import { exchangeRaw, get, splitAnswer } from './support/raw-client';
import { oneService, setStage, type Stage } from './support/stage';
import { writeConfig } from './support/test-gateway';
import { decodeStruct } from '../../plugins/server/wire/struct-codec';
import { INSTANCE_ID, type ScriptedEvent, type ScriptedServer } from './support/plugin-server';

// What a Kong refuses and takes is in its recordings, which test/acceptance/raw-http plays: here stands what they have not.
it('for a service that speaks gRPC is answered as Kong answers HTTP/1.1, and other services go on', async () => {
  const stage = await setStage({
    kongYml: (url) => {
      const x = JSON.parse(oneService({ url })) as { services: object[] };
      const routes = [{ name: 'g', paths: ['/g.v1.G/'], protocols: ['grpc', 'grpcs'] }];
      return JSON.stringify({ ...x, services: [...x.services, { name: 'g', url: 'grpc://127.0.0.1:1', routes }] });
    },
  });
  const url = `http://127.0.0.1:${stage.gateway.port}`;
  const statusOf = async (path: string, type: string): Promise<number> =>
    (await send(url + path, { method: 'POST', headers: { 'Content-Type': type }, body: '' })).status;
  const told = stage.gateway.logs.filter(({ level }) => level === 'warn');
  expect(told).toEqual([{ level: 'warn', message: expect.stringContaining('passes no gRPC on'), fields: { services: ['g'] } }]);
  expect(await statusOf('/g.v1.G/Now', 'application/grpc+proto')).toBe(426);
  expect(await statusOf('/g.v1.G/Now', 'application/json')).toBe(415);
  expect(await statusOf('/x', 'application/grpc')).toBe(200);
  await stage.close();
});

describe('a request', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage();
  });
  afterAll(() => stage?.close());

  const exchange = (bytes: string): Promise<string> => exchangeRaw(stage.gateway.port, bytes);

  it.each<[string, string, number]>([
    ['a path above the root', 'GET /../m HTTP/1.1\r\nHost: a\r\n\r\n', 400],
    ['a request line far over every limit', `GET /m?${'a'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
    [
      'a body with an upgrade',
      'GET /m HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\na',
      400,
    ],
    ['a chunked body that is nonsense', 'POST /strip HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n', 400],
  ])('with %s is refused, and its connection ends', async (_what, bytes, expected) => {
    const answer = splitAnswer(await exchange(bytes));
    expect([answer.status, answer.headers.get('connection')]).toEqual([expected, 'close']);
    expect(answer.body).toContain(`request_id: ${answer.headers.get('x-kong-request-id') ?? 'missing'}`);
  });

  it('whose caller a plugin names is logged with the consumer, and goes on', async () => {
    const { plugin, gateway } = stage;
    const args = encodeMessage('AuthenticateArgs', {
      consumer: { id: 'cust-1', username: 'Acme' },
      credential: { id: 'cred-1', consumer_id: 'cust-1' },
    });
    plugin.onEvent = async (event) => {
      expect(await event.call('kong.client.authenticate', args)).toHaveLength(0);
      event.end();
    };
    expect((await send(`http://127.0.0.1:${gateway.port}/echo`)).status).toBe(200);
    plugin.onEvent = (event) => event.end();
    expect((await send(`http://127.0.0.1:${gateway.port}/echo`)).status).toBe(200);
    const logged = gateway.logs.filter(({ message }) => message === 'request').slice(-2);
    expect(logged.map(({ fields }) => fields?.['consumer'])).toEqual(['cust-1', undefined]);
  });

  it.each([
    ['a request line just below 8 KiB', `GET /m?${'a'.repeat(8100)} HTTP/1.1\r\nHost: a\r\n`],
    ['a header line just below 8 KiB', `GET /m HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(8100)}\r\n`],
    ['1,000 headers', `GET /m HTTP/1.1\r\nHost: a\r\n${'X: a\r\n'.repeat(998)}`],
    ['an IPv6 address for its host', 'GET /m HTTP/1.1\r\nHost: [::1]:80\r\n'],
    ['encoded dots behind a name', 'GET /m/a%2e%2e HTTP/1.1\r\nHost: a\r\n'],
  ])('with %s is taken', async (_what, head) => {
    expect(splitAnswer(await exchange(`${head}Connection: close\r\n\r\n`)).status).toBe(200);
  });

  it('is answered before the nonsense that follows it', async () => {
    const slow = await setStage({ service: (_request, response) => setTimeout(() => response.end('slow'), 100) });
    const answers = await exchangeRaw(slow.gateway.port, 'GET /m HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE\r\n\r\n');
    expect(answers.match(/HTTP\/1\.1 \d+|slow/g)).toEqual(['HTTP/1.1 200', 'slow', 'HTTP/1.1 400']);
    await slow.close();
  });

  describe("the gateway's own errors", () => {
    const json = (status: string): string => `{"title":"%s","status_hint":"${status}","percent":"100%%","request_id":"%s"}`;

    it('use the templates and the default type that kong.conf names', async () => {
      const stage = await setStage({
        kongConf: `error_template_json = ${writeConfig('t.json', json('x'))}\nerror_default_type = application/json\n`,
      });
      const notFound = await get(stage.gateway.port, '/nowhere');
      expect(JSON.parse(notFound.body)).toEqual({
        title: 'no Route matched with those values',
        status_hint: 'x',
        percent: '100%',
        request_id: notFound.headers.get('x-kong-request-id'),
      });
      const bad = splitAnswer(await exchangeRaw(stage.gateway.port, 'GARBAGE\r\n\r\n'));
      expect(JSON.parse(bad.body)).toMatchObject({ title: 'Bad request' });
      expect(bad.headers.get('content-type')).toBe('application/json; charset=utf-8');
      await stage.close();
    });

    it('carry only the headers that kong.conf lists', async () => {
      const stage = await setStage({ kongConf: 'headers = X-Kong-Request-Id\n' });
      for (const path of ['/nowhere', '/m']) {
        const { head } = await get(stage.gateway.port, path);
        expect(head).toContain('X-Kong-Request-Id');
        expect(head).not.toMatch(/Latency|Via|Server/);
      }
      await stage.close();
    });
  });

  it('runs the project with its own kong.conf and templates', async () => {
    const kong = join(__dirname, '../../kong');
    const stage = await setStage({ kongConfPath: join(kong, 'kong.conf') });
    const { body, headers } = await get(stage.gateway.port, '/nowhere');
    expect(JSON.parse(body)).toMatchObject({
      title: 'no Route matched with those values',
      detail: expect.stringContaining('check the path, method, headers and size'),
      code: 'gateway_error',
      request_id: headers.get('x-kong-request-id'),
    });
    expect(stage.gateway.logs[0]?.message).toContain('without a meaning here');
    await stage.close();
  });
});

it('a request from which Kong’s own plugin takes parts reaches its service without them, and with all the rest', async () => {
  const config = { remove: { headers: ['authorization', 'X-API-Key', 'cookie'], querystring: ['api_key'] } };
  const stage = await setStage({
    kongYml: (url) => oneService({ url: `${url}/base`, plugins: [{ name: 'request-transformer', config }] }, { methods: ['GET'] }),
  });
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    send(`http://127.0.0.1:${stage.gateway.port}${path}`, { method, headers });
  const keys = { Authorization: 'Bearer tg_test_x', 'x-api-key': 'tg_test_y', Cookie: 'a=b', 'X-Other': 'kept' };
  const { url, rawHeaders } = (await ask('/x?a=1&api_key=tg_test_z&%61pi%5Fkey=tg_test_z&b=a%26b&api_key', keys)).json();
  expect(url).toBe('/base/x?a=1&b=a%26b');
  expect(rawHeaders.join()).not.toMatch(/tg_test_|Cookie/);
  expect(rawHeaders).toEqual(expect.arrayContaining(['X-Other', 'kept']));
  expect((await ask('/x?q=%41')).json().url).toBe('/base/x?q=%41');
  expect((await ask('/x', {}, 'POST')).status).toBe(404);
  await stage.close();
});

describe('trusted proxies', () => {
  const some = ['10.0.0.0/8', 'fd00::/8'];
  it.each<[string, string, string, string[], boolean, string]>([
    ['is the peer when nobody is trusted, whatever it says', '10.0.0.1', '1.2.3.4', [], false, '10.0.0.1'],
    ['is the peer when the peer is not among the trusted', '11.0.0.1', '1.2.3.4', some, false, '11.0.0.1'],
    ['is the last address of the list without recursion', '10.0.0.1', '1.2.3.4, 10.0.0.2', some, false, '10.0.0.2'],
    ['is the last that is not trusted with recursion', '10.0.0.1', '6.6.6.6, 1.2.3.4, fd00::1, 10.0.0.2', some, true, '1.2.3.4'],
    ['is the first of those that all are trusted', '10.0.0.1', '10.0.0.3, 10.0.0.2', some, true, '10.0.0.3'],
    ['is the last that could be read when the list holds nonsense', '10.0.0.1', '1.2.3.4, unknown, 10.0.0.2', some, true, '10.0.0.2'],
    ['is the peer when the list is nonsense', '10.0.0.1', 'unknown', some, true, '10.0.0.1'],
    ['may carry a port', '10.0.0.1', '1.2.3.4:5678', some, false, '1.2.3.4'],
    ['may carry a port behind IPv6', '10.0.0.1', '[2001:db8::1]:5678', some, false, '2001:db8::1'],
  ])('the address of the caller %s', (_what, ...[peer, forwarded, trustedIps, recursive, expected]) => {
    const proxies = new TrustedProxies({ trustedIps, realIpHeader: 'x-forwarded-for', recursive });
    expect(proxies.callerOf({ ip: peer, port: 1 }, forwarded).ip).toBe(expected);
  });

  it('are believed about address, scheme, host, port and path, by the plugin and towards the service', async () => {
    const stage = await setStage({ kongConf: 'trusted_ips = 127.0.0.1\nreal_ip_header = X-Forwarded-For\nreal_ip_recursive = on\n' });
    let seenByPlugin = '';
    stage.plugin.onEvent = async (event) => {
      const reply = await event.call('kong.client.get_forwarded_ip');
      seenByPlugin = decodeString(reply);
      event.end();
    };
    const forwarded = ['For: 6.6.6.6, 1.2.3.4', 'Proto: https', 'Host: api.test', 'Port: 443', 'Path: /public'];
    const headers = Object.fromEntries(forwarded.map((line) => `X-Forwarded-${line}`.split(': ')));
    const answer = await get(stage.gateway.port, '/echo', headers);
    expect(seenByPlugin).toBe('1.2.3.4');
    const { rawHeaders } = JSON.parse(answer.body) as { rawHeaders: string[] };
    expect(rawHeaders.slice(6, 20).join(' ')).toMatch(
      /^X-Forwarded-For 6\.6\.6\.6, 1\.2\.3\.4, 127\.0\.0\.1 X-Forwarded-Proto https X-Forwarded-Host api\.test X-Forwarded-Port 443 X-Forwarded-Path \/public X-Real-IP 1\.2\.3\.4 /,
    );
    await stage.close();
  });
});

interface PdkFrame {
  dir: 'pdk';
  method: string;
  args: string;
  reply: string | null;
}

interface Trace {
  name: string;
  request: string;
  response_head: string;
  response_body: string;
  frames: (
    { dir: 'kong->server'; decoded: Record<string, unknown> } | PdkFrame | { dir?: 'server->kong'; config?: Record<string, unknown> }
  )[];
}

const traces = JSON.parse(readFileSync(join(__dirname, '../fixtures/kong-traces/traces.json'), 'utf8')) as Trace[];

function pdkFrames(trace: Trace): PdkFrame[] {
  return trace.frames.filter((frame): frame is PdkFrame => 'method' in frame);
}

/** Dates, ids, ports, counters and latencies differ from run to run. */
function mask(text: string): string {
  return text
    .replace(/[0-9a-f]{32}/g, '<id>')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/g, '<uuid>')
    .replace(/^Date: .*$/gm, 'Date: <date>')
    .replace(/^(X-Kong-[A-Za-z]+-Latency): \d+$/gm, '$1: <ms>')
    .replace(/127\.0\.0\.1:\d+/g, '127.0.0.1:<port>')
    .replace(/"X-Forwarded-Port","\d+"/, '"X-Forwarded-Port","<port>"')
    .replace(/^\{"n":\d+/, '{"n":<n>')
    .replace(/(\r\n\r\n\{"n":)\d+/, '$1<n>');
}

/** Kong's `set_headers` walks a Lua table, whose order is a matter of hashing: the headers it adds are compared in sorted order. */
function sortAddedHeaders(text: string): string {
  return text.replace(/"X-One","1",.*?(?=\])/, (added) => {
    const pairs = added.match(/"[^"]*","[^"]*"/g) ?? [];
    return pairs.sort().join(',');
  });
}

/** The echo's own Content-Length follows the digits of ports and counters; every other one must match. */
function maskAnswer(text: string): string {
  const masked = sortAddedHeaders(mask(text));
  return masked.includes('"rawHeaders"') ? masked.replace(/^Content-Length: \d+$/m, 'Content-Length: <echo>') : masked;
}

/** A reply in a form that two runs share. */
function comparable(method: string, reply: Buffer): unknown {
  if (method === 'kong.request.get_headers') return decodeStruct(reply);
  const text = reply.toString('latin1');
  if (text.includes('client_body_temp') || text.includes('tollgate-gateway-')) return text.slice(0, 1);
  return mask(text);
}

/** Effects of calls that the project's plugin never makes: a recording of one says nothing about what the local gateway does for it. */
const UNUSED_EFFECTS = ['kong.service.request.set_path', 'kong.service.request.set_method'];

/** What the project's plugin calls, besides `kong.request.nope`, which no Kong knows. */
const USED =
  /^kong\.(?:request\.(?:get_headers|get_raw_query|get_raw_body|nope)|client\.get_forwarded_ip|nginx\.get_var|response\.(?:set_headers|exit)|service\.request\.(?:set_headers|clear_header|set_raw_query|set_raw_body))$/;

/** The calls of a recording that are played. `set_header` has the effect of `set_headers`, and is played as that. */
function playedFrames(trace: Trace): PdkFrame[] {
  return pdkFrames(trace).flatMap((frame) => {
    if (frame.method !== 'kong.response.set_header') return USED.test(frame.method) ? [frame] : [];
    const { k, v } = messageType('KV').toObject(messageType('KV').decode(Buffer.from(frame.args, 'hex'))) as { k: string; v: object };
    return [
      {
        ...frame,
        method: 'kong.response.set_headers',
        args: encodeMessage('google.protobuf.Struct', { fields: { [k]: v } }).toString('hex'),
      },
    ];
  });
}

const played = traces.filter((trace) => !pdkFrames(trace).some(({ method }) => UNUSED_EFFECTS.includes(method)));

describe('a recorded exchange of Kong 3.9.3', () => {
  let stage: Stage;
  let plugin: ScriptedServer;
  beforeAll(async () => {
    stage = await setStage();
    plugin = stage.plugin;
  });
  afterAll(() => stage?.close());

  async function play(trace: Trace, mode: 'blocking' | 'pipelined'): Promise<{ answer: string; replies: [string, Buffer | null][] }> {
    const replies: [string, Buffer | null][] = [];
    plugin.calls.length = 0;
    plugin.onEvent = async (event: ScriptedEvent) => {
      const frames = playedFrames(trace);
      const calls = frames.map((frame): [string, Buffer] => [frame.method, Buffer.from(frame.args, 'hex')]);
      if (mode === 'pipelined' && frames.every((frame) => frame.reply !== null)) {
        (await event.batch(calls)).forEach((reply, index) => replies.push([calls[index]?.[0] ?? '', reply]));
        event.end();
        return;
      }
      for (const [method, args] of calls) replies.push([method, await event.call(method, args).catch(() => null)]);
      event.end();
    };
    const answer = await exchangeRaw(stage.gateway.port, trace.request);
    return { answer, replies };
  }

  const plays = (['blocking', 'pipelined'] as const).flatMap((mode) =>
    played.filter((trace) => mode === 'blocking' || playedFrames(trace).length > 1).map((trace) => [mode, trace.name, trace] as const),
  );

  it.each(plays)('is reproduced, its calls %s: %s', async (mode, _name, trace) => {
    const { answer, replies } = await play(trace, mode);
    expect(maskAnswer(answer)).toBe(maskAnswer(`${trace.response_head}\r\n\r\n${trace.response_body}`));
    const expected = playedFrames(trace).map(({ method, reply }) => [method, reply === null ? null : Buffer.from(reply, 'hex')] as const);
    const masked = (calls: readonly (readonly [string, Buffer | null])[]): unknown =>
      calls.map(([method, reply]) => [method, reply === null ? null : comparable(method, reply)]);
    expect(masked(replies)).toEqual(masked(expected));
  });

  it('asks for the event of the recorded instance and phase, with rising sequence numbers', async () => {
    const trace = traces.find((candidate) => candidate.name === 'no scenario');
    if (trace === undefined) throw new Error('the recording is incomplete');
    await play(trace, 'blocking');
    await play(trace, 'blocking');
    const first = plugin.calls[0]?.sequence ?? 0;
    await play(trace, 'blocking');
    expect(plugin.calls).toEqual([{ sequence: first + 1, command: 'handle_event', instanceId: INSTANCE_ID, eventName: 'access' }]);
  });
});

it('starts an instance with the members of the recorded configuration, on the connection of the first event', async () => {
  const stage = await setStage();
  const { plugin, gateway } = stage;
  await exchangeRaw(gateway.port, traces[0]?.request ?? '');
  const [start, event] = plugin.calls;
  const recorded = traces[0]?.frames.find((frame): frame is { config: Record<string, unknown> } => 'config' in frame)?.config ?? {};
  expect(start).toMatchObject({ command: 'start_instance', name: 'tracer', sequence: 2 });
  expect(event).toMatchObject({ command: 'handle_event', sequence: 3 });
  const config: unknown = start?.command === 'start_instance' ? JSON.parse(start.config.toString()) : undefined;
  const maskIds = (value: unknown): unknown => JSON.parse(mask(JSON.stringify(value)));
  expect(maskIds(config)).toEqual(maskIds(recorded));
  expect(plugin.connections.size).toBe(1);
  await stage.close();
});
