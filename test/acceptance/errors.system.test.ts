import { send, type Reply } from '../support/http';
import { openInstallation, type Installation, type IssuedKey } from './installation';

let tollgate: Installation;
let issued: IssuedKey;

beforeAll(async () => {
  tollgate = await openInstallation();
  issued = await tollgate.createKey({ products: ['api-ip', 'api-pincode', 'api-grank', 'api-image', 'api-seo'], mode: 'test' });
});

afterAll(() => tollgate.close());

const call = (path: string, options: { method?: string; body?: string; type?: string } = {}): Promise<Reply> =>
  send(tollgate.gatewayUrl + path, {
    method: options.method ?? 'GET',
    headers: { 'X-API-Key': issued.key, ...(options.body === undefined ? {} : { 'Content-Type': options.type ?? 'application/json' }) },
    ...(options.body === undefined ? {} : { body: options.body }),
  });

describe('a product answers bad input', () => {
  it.each<[string, Parameters<typeof call>, number, string]>([
    ['an address that is none', ['/ip?ip=300.1.1.1'], 400, 'invalid_request'],
    ['an octal address', ['/ip?ip=010.1.1.1'], 400, 'invalid_request'],
    ['the same field twice with different values', ['/ip?ip=8.8.8.8&ip=1.1.1.1'], 400, 'invalid_request'],
    ['a missing pin', ['/pincode?country=IN'], 400, 'invalid_request'],
    ['a country that is not served', ['/pincode?country=XX&pin=1'], 400, 'invalid_request'],
    ['broken JSON', ['/pincode', { method: 'POST', body: '{"country":' }], 400, 'invalid_request'],
    ['JSON that is a list', ['/pincode', { method: 'POST', body: '[]' }], 400, 'invalid_request'],
    ['JSON nested a thousand deep', ['/pincode', { method: 'POST', body: '['.repeat(1_000) + ']'.repeat(1_000) }], 400, 'invalid_request'],
    ['a missing ranking parameter', ['/grank/position', { method: 'POST', body: '{"keyword":"x"}' }], 422, 'validation_failed'],
    ['a bad SEO body', ['/seo/serp', { method: 'POST', body: '{}' }], 422, 'validation_failed'],
    ['a missing image', ['/image/background_remover', { method: 'POST', body: '{}' }], 400, 'invalid_request'],
    ['an unknown body type', ['/pincode', { method: 'POST', body: 'x', type: 'application/x-unknown' }], 415, 'media_type_unsupported'],
  ])('%s: its documented problem, with the request id', async (_, args, status, code) => {
    const reply = await call(...args);
    expect([reply.status, reply.json().code]).toEqual([status, code]);
    expect(reply.headers['content-type']).toContain('application/problem+json');
    expect(reply.json().request_id).toBe(reply.headers['x-kong-request-id']);
  });

  it('names each bad field, and repeats no value', async () => {
    const body = (
      await call('/grank/position', { method: 'POST', body: '{"keyword":"","latitude":"north-of-here","longitude":1}' })
    ).json();
    const fields = body.errors.map(({ field }: { field: string }) => field);
    expect(fields).toEqual(expect.arrayContaining(['keyword', 'latitude', 'business_name']));
    expect(JSON.stringify(body)).not.toContain('north-of-here');
  });
});

describe("the gateway's own refusals", () => {
  it.each([['application/json'], ['text/html'], ['*/*'], ['text/plain']])(
    'are problems that a caller with Accept %s can read',
    async (accept) => {
      const reply = await send(`${tollgate.gatewayUrl}/no-such-route`, { headers: { Accept: accept } });
      expect(reply.status).toBe(404);
      expect(reply.text).toContain(String(reply.headers['x-kong-request-id']));
      expect(reply.text).not.toMatch(/kong|nginx|node|stack/i);
    },
  );
});
