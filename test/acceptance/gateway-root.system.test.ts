import { PRODUCTS } from '../support/catalogue';
import { send } from '../support/http';
import { sendRaw, statusesOf, UPGRADE } from '../support/gateway/raw-http';
import { openInstallation } from './installation';
import { useOpened } from '../support/opened';

const tollgate = useOpened(openInstallation);

const ask = (path: string, method = 'GET', headers: Record<string, string> = {}) =>
  send(`${tollgate.gatewayUrl}${path}`, { method, headers });

describe('without a key the gateway', () => {
  it('answers / with the catalogue: all products, and which are only listed', async () => {
    const answer = await ask('/');
    const { status, headers } = answer;
    expect([status, headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    const { portal, openapi, products } = answer.json();
    expect(products.map(({ id }: { id: string }) => id)).toEqual(PRODUCTS.map(({ id }) => id));
    expect(products.filter(({ listed_only }: { listed_only: boolean }) => listed_only)).toHaveLength(2);
    expect(URL.canParse(portal)).toBe(true);
    expect(openapi).toMatch(/\/openapi\.json$/);
  });

  it('answers /openapi.json with the description of every route, and says when a copy is still good', async () => {
    const answer = await ask('/openapi.json');
    const { openapi, paths } = answer.json();
    expect([answer.status, openapi]).toEqual([200, '3.1.0']);
    for (const { routes } of PRODUCTS) for (const { path } of routes) expect(Object.keys(paths)).toContain(path);
    expect((await ask('/openapi.json', 'GET', { 'If-None-Match': String(answer.headers['etag']) })).status).toBe(304);
    const head = await ask('/openapi.json', 'HEAD');
    expect([head.status, head.text]).toEqual([200, '']);
  });

  it.each(['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])('takes no %s there', async (method) => {
    expect([(await ask('/', method)).status, (await ask('/openapi.json', method)).status]).toEqual([404, 404]);
  });

  it.each([
    '/openapi.json/',
    '/openapi.json/x',
    '/openapiXjson',
    '/OPENAPI.JSON',
    '/openapi.json%0a',
    '/%2f',
    '/x',
    '/gateway/',
    '/api/outbox',
  ])('answers 404 to what is neither: %s', async (path) => expect((await ask(path)).status).toBe(404));

  it.each(['//', '/./', '/.', '/x/..', '//ip', '/./ip', '/%69p', '/openapi.json/../ip', '/ip/..', '/openapi%2ejson', '//api/outbox'])(
    'gives nothing but these two under another spelling: %s',
    async (path) => {
      const answer = await ask(path);
      const given = answer.status === 200 ? Object.keys(answer.json()).find((name) => ['products', 'paths'].includes(name)) : answer.status;
      expect(['products', 'paths', 401, 404]).toContain(given);
    },
  );

  it('needs none of what a caller sends along', async () => {
    const { key } = await tollgate.createKey({ products: ['api-ip'], mode: 'test' });
    const plain = await ask('/');
    const keyed = await ask(`/?api_key=${key}`, 'GET', {
      Authorization: `Bearer ${key}`,
      'X-API-Key': key,
      Cookie: `tollgate.session_token=${key}`,
    });
    expect([keyed.status, keyed.text]).toEqual([200, plain.text]);
    expect(keyed.headers).not.toHaveProperty('ratelimit');
    expect(JSON.stringify(keyed.headers)).not.toContain(key);
  });

  it('does not turn into a tunnel', async () => {
    const text = await sendRaw(tollgate.gatewayUrl, `GET / HTTP/1.1\r\nHost: gateway\r\n${UPGRADE}\r\n\r\n`);
    expect(statusesOf(text)).toEqual([200]);
  });
});
