import { join } from 'node:path';
import { TrustedProxies } from '../../kong/local/http/trusted-proxies';
import { decodeString } from '../../plugins/server/wire/pdk-messages';
import { encodeMessage } from '../support/gateway/kong-messages';
import { send } from '../support/http';
import { exchangeRaw, get, splitAnswer } from './support/raw-client';
import { oneService, setStage, type Stage } from './support/stage';
import { writeConfig } from './support/test-gateway';

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
