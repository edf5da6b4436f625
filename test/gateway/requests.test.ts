import { join } from 'node:path';
import { TrustedProxies, type RealIpSettings } from '../../kong/local/http/trusted-proxies';
import { decodeString } from '../../plugins/server/pdk-messages';
import { send } from '../support/http';
import { exchangeRaw, get, splitAnswer } from './support/raw-client';
import { setStage, type Stage } from './support/stage';
import { writeConfig } from './support/test-gateway';

describe('a request', () => {
  describe('a request that nginx would not take', () => {
    let stage: Stage;
    beforeAll(async () => {
      stage = await setStage();
    });
    afterAll(() => stage.close());

    const status = async (bytes: string): Promise<number> => splitAnswer(await exchangeRaw(stage.gateway.port, bytes)).status;

    it.each<[string, string, number]>([
      ['a space before the colon', 'GET /m HTTP/1.1\r\nHost: a\r\nX-Bad : 1\r\n\r\n', 400],
      ['two Hosts', 'GET /m HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n', 400],
      ['a Host with a slash', 'GET /m HTTP/1.1\r\nHost: a/b\r\n\r\n', 400],
      ['a broken percent triplet', 'GET /m/%zz HTTP/1.1\r\nHost: a\r\n\r\n', 400],
      ['a zero byte', 'GET /m/%00 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
      ['a path above the root', 'GET /../m HTTP/1.1\r\nHost: a\r\n\r\n', 400],
      ['no path', 'OPTIONS * HTTP/1.1\r\nHost: a\r\n\r\n', 400],
      ['chunks in HTTP/1.0', 'POST /m HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', 400],
      ['TRACE', 'TRACE /m HTTP/1.1\r\nHost: a\r\n\r\n', 405],
      ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 400],
      ['1,001 headers', `GET /m HTTP/1.1\r\nHost: a\r\n${'X: a\r\n'.repeat(1000)}\r\n`, 400],
      ['a request line over 8 KiB', `GET /m?${'a'.repeat(8200)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
      ['a request line far over every limit', `GET /m?${'a'.repeat(100_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
      ['one header line over 8 KiB', `GET /m HTTP/1.1\r\nHost: a\r\nX: ${'a'.repeat(8200)}\r\n\r\n`, 400],
      ['headers over 32 KiB', `GET /m HTTP/1.1\r\nHost: a\r\n${`X: ${'a'.repeat(4000)}\r\n`.repeat(9)}\r\n`, 400],
      [
        'a body with WebSocket upgrade',
        'GET /m HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nContent-Length: 1\r\n\r\na',
        400,
      ],
    ])('%s is refused', async (_what, bytes, expected) => {
      const answer = splitAnswer(await exchangeRaw(stage.gateway.port, bytes));
      expect([answer.status, answer.headers.get('connection')]).toEqual([expected, 'close']);
      expect(answer.body).toContain(`request_id: ${answer.headers.get('x-kong-request-id') ?? 'missing'}`);
    });

    it.each([
    'Authorization', 'If-Match', 'If-None-Match', 'If-Modified-Since', 'If-Unmodified-Since', 'If-Range', 'Expect', 'Content-Range',
  ])('a second %s is refused, whatever its spelling', async (name) => {
    expect(await status(`GET /m HTTP/1.1\r\nHost: a\r\n${name}: a\r\n${name.toLowerCase()}: a\r\n\r\n`)).toBe(400);
  }); // prettier-ignore

    it.each([
      [
        'an unknown transfer coding',
        'POST /m HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n',
        '501 Not Implemented',
      ],
      ['HTTP/2 in text', 'GET /m HTTP/2.0\r\nHost: a\r\n\r\n', '505 HTTP Version Not Supported'],
    ])('%s is refused with the page of nginx, which has no template', async (_what, bytes, title) => {
      const answer = splitAnswer(await exchangeRaw(stage.gateway.port, bytes));
      expect([answer.status, answer.headers.get('connection')]).toEqual([Number(title.slice(0, 3)), 'close']);
      expect(answer.body).toContain(`<h1>${title}</h1>`);
    });

    it('is told apart from what it does take', async () => {
      expect(await status(`GET /m?${'a'.repeat(8100)} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`)).toBe(200);
      expect(await status(`GET /m HTTP/1.1\r\nHost: a\r\nConnection: close\r\nX: ${'a'.repeat(8100)}\r\n\r\n`)).toBe(200);
      expect(await status('GET /m HTTP/1.0\r\n\r\n')).toBe(200);
      expect(await status('GET /m HTTP/1.1\r\nHost: a@b\r\nConnection: close\r\n\r\n')).toBe(200);
      expect(await status(`GET /m HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${'X: a\r\n'.repeat(998)}\r\n`)).toBe(200);
      expect(await status('GET /m HTTP/1.1\r\nHost: [::1]:80\r\nConnection: close\r\n\r\n')).toBe(200);
      expect(await status('GET /m/a%2e%2e HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n')).toBe(200);
    });

    it('does not end a pipeline of good ones before it', async () => {
      const answers = await exchangeRaw(stage.gateway.port, 'GET /m HTTP/1.1\r\nHost: a\r\n\r\nGET /m HTTP/1.1\r\n\r\n');
      expect(answers.match(/^HTTP\/1\.1 \d+/gm)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    });
  });

  it('answers a good request before the nonsense that follows it', async () => {
    const stage = await setStage({ service: (_request, response) => setTimeout(() => response.end('slow'), 100) });
    const answers = await exchangeRaw(stage.gateway.port, 'GET /m HTTP/1.1\r\nHost: a\r\n\r\nGARBAGE\r\n\r\n');
    expect(answers.match(/HTTP\/1\.1 \d+/g)).toEqual(['HTTP/1.1 200', 'HTTP/1.1 400']);
    expect(answers).toContain('slow');
    await stage.close();
  });

  it('refuses a chunked body that is nonsense and ends its connection', async () => {
    const stage = await setStage();
    const answer = await exchangeRaw(stage.gateway.port, 'POST /strip HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n');
    expect(answer).toMatch(/^HTTP\/1\.1 400 [^]*\r\nConnection: close\r\n/);
    await stage.close();
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

    it('follow the q-values of Accept', async () => {
      const stage = await setStage();
      const typeFor = async (accept: string): Promise<string | undefined> =>
        (await get(stage.gateway.port, '/nowhere', { Accept: accept })).headers.get('content-type')?.split(';')[0];
      expect(await typeFor('text/html;q=0.5, text/plain;q=0.9')).toBe('text/plain');
      expect(await typeFor('image/png, */*;q=0.1')).toBe('application/json');
      expect(await typeFor('application/xml')).toBe('application/xml');
      expect(await typeFor('text/*')).toBe('text/plain');
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

describe('what the plugin takes away', () => {
  let stage: Stage;
  beforeAll(async () => {
    stage = await setStage({
      kongYml: (url) =>
        JSON.stringify({
          _format_version: '3.0',
          services: [
            {
              name: 'open',
              url: `${url}/base`,
              routes: [{ name: 'open', methods: ['GET', 'HEAD'], paths: ['~/$', '~/openapi\\.json$'], strip_path: false }],
              plugins: [
                {
                  name: 'request-transformer',
                  config: { remove: { headers: ['authorization', 'X-API-Key', 'cookie'], querystring: ['api_key'] } },
                },
              ],
            },
          ],
        }),
    });
  });
  afterAll(() => stage.close());

  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    send(`http://127.0.0.1:${stage.gateway.port}${path}`, { method, headers });

  describe('a request from which the gateway takes parts', () => {
    it('reaches its service without them, and with all the rest', async () => {
      const keys = { Authorization: 'Bearer tg_test_x', 'x-api-key': 'tg_test_y', Cookie: 'a=b', 'X-Other': 'kept' };
      const { url, rawHeaders } = (await ask('/?a=1&api_key=tg_test_z&%61pi%5Fkey=tg_test_z&b=a%26b&api_key', keys)).json();
      expect(url).toBe('/base?a=1&b=a%26b');
      expect(rawHeaders.join()).not.toContain('tg_test_');
      expect(rawHeaders).toEqual(expect.arrayContaining(['X-Other', 'kept']));
      expect(rawHeaders).not.toContain('Cookie');
    });

    it('is sent as it came when it has none of them', async () => {
      expect((await ask('/openapi.json?q=%41')).json().url).toBe('/base/openapi.json?q=%41');
    });

    it.each(['POST', 'PUT', 'DELETE', 'OPTIONS'])('has no route with %s', async (method) =>
      expect((await ask('/', {}, method)).status).toBe(404),
    );
  });
});

describe('trusted proxies', () => {
  const caller = (peer: string, forwarded: string | undefined, settings: Partial<RealIpSettings>): string =>
    new TrustedProxies({ trustedIps: [], realIpHeader: 'x-forwarded-for', recursive: false, ...settings }).callerOf(
      { ip: peer, port: 1 },
      forwarded,
    ).ip;

  describe("the caller's address", () => {
    it('is the peer when nobody is trusted, whatever it says', () => {
      expect(caller('10.0.0.1', '1.2.3.4', {})).toBe('10.0.0.1');
    });

    it('is the peer when the peer is not among the trusted', () => {
      expect(caller('11.0.0.1', '1.2.3.4', { trustedIps: ['10.0.0.0/8'] })).toBe('11.0.0.1');
    });

    it('is the last address of the list without recursion', () => {
      expect(caller('10.0.0.1', '1.2.3.4, 10.0.0.2', { trustedIps: ['10.0.0.0/8'] })).toBe('10.0.0.2');
    });

    it('is the last address that is not trusted with recursion', () => {
      const settings = { trustedIps: ['10.0.0.0/8', 'fd00::/8'], recursive: true };
      expect(caller('10.0.0.1', '6.6.6.6, 1.2.3.4, fd00::1, 10.0.0.2', settings)).toBe('1.2.3.4');
      expect(caller('10.0.0.1', '10.0.0.3, 10.0.0.2', settings)).toBe('10.0.0.3');
    });

    it('is the last one that could be read when the list holds nonsense', () => {
      const settings = { trustedIps: ['10.0.0.0/8'], recursive: true };
      expect(caller('10.0.0.1', '1.2.3.4, unknown, 10.0.0.2', settings)).toBe('10.0.0.2');
      expect(caller('10.0.0.1', 'unknown', settings)).toBe('10.0.0.1');
    });

    it('may carry a port', () => {
      expect(caller('10.0.0.1', '1.2.3.4:5678', { trustedIps: ['10.0.0.1'] })).toBe('1.2.3.4');
      expect(caller('10.0.0.1', '[2001:db8::1]:5678', { trustedIps: ['10.0.0.1'] })).toBe('2001:db8::1');
    });
  });

  describe('a trusted proxy', () => {
    let stage: Stage;
    let seenByPlugin: string[] = [];

    beforeAll(async () => {
      stage = await setStage({ kongConf: 'trusted_ips = 127.0.0.1\nreal_ip_header = X-Forwarded-For\nreal_ip_recursive = on\n' });
      stage.plugin.onEvent = async (event) => {
        const replies = await event.batch(
          ['client.get_ip', 'client.get_forwarded_ip', 'request.get_forwarded_scheme', 'request.get_forwarded_host'].map((name) => [
            `kong.${name}`,
            Buffer.alloc(0),
          ]),
        );
        seenByPlugin = replies.map((reply) => decodeString(reply));
        event.end();
      };
    });

    afterAll(() => stage.close());

    it('is believed about address, scheme, host, port and path, by the plugin and towards the service', async () => {
      const answer = await get(stage.gateway.port, '/echo', {
        'X-Forwarded-For': '6.6.6.6, 1.2.3.4',
        'X-Forwarded-Proto': 'https',
        'X-Forwarded-Host': 'api.test',
        'X-Forwarded-Port': '443',
        'X-Forwarded-Path': '/public',
      });
      expect(seenByPlugin).toEqual(['127.0.0.1', '1.2.3.4', 'https', 'api.test']);
      const { rawHeaders } = JSON.parse(answer.body) as { rawHeaders: string[] };
      expect(rawHeaders.slice(6, 20).join(' ')).toMatch(
        /^X-Forwarded-For 6\.6\.6\.6, 1\.2\.3\.4, 127\.0\.0\.1 X-Forwarded-Proto https X-Forwarded-Host api\.test X-Forwarded-Port 443 X-Forwarded-Path \/public X-Real-IP 1\.2\.3\.4 /,
      );
    });
  });
});
