import { setStage, type Stage } from './support/stage';
import { send } from '../support/http';

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
