import { send, type Sending } from '../support/http';
import { openInstallation, type IssuedKey } from './installation';
import { useOpened } from '../support/opened';

const tollgate = useOpened(openInstallation);
let issued: IssuedKey;

beforeAll(async () => {
  issued = await tollgate.createKey({ products: ['api-ip', 'api-pincode', 'api-grank'], mode: 'test' });
});

const withBody = (type: string, body: string): Sending => ({
  method: 'POST',
  headers: { 'X-API-Key': issued.key, 'Content-Type': type },
  body,
});

describe('the problem of a product', () => {
  it.each<[string, () => [string, Sending], number, string]>([
    ['a bad address', () => ['/ip?ip=300.1.1.1', { headers: { 'X-API-Key': issued.key } }], 400, 'invalid_request'],
    ['a missing parameter', () => ['/grank/position', withBody('application/json', '{"keyword":"x"}')], 422, 'validation_failed'],
    ['an unknown body type', () => ['/pincode', withBody('application/x-unknown', 'x')], 415, 'media_type_unsupported'],
  ])('with %s comes through as it is, with the request id', async (_, sending, status, code) => {
    const [path, options] = sending();
    const reply = await send(tollgate.gatewayUrl + path, options);
    expect([reply.status, reply.json().code]).toEqual([status, code]);
    expect(reply.headers['content-type']).toContain('application/problem+json');
    expect(reply.json().request_id).toBe(reply.headers['x-kong-request-id']);
  });
});

describe("the gateway's own refusals", () => {
  it.each(['application/json', 'text/html', '*/*', 'text/plain'])('are problems that a caller with Accept %s can read', async (accept) => {
    const reply = await send(`${tollgate.gatewayUrl}/no-such-route`, { headers: { Accept: accept } });
    expect(reply.status).toBe(404);
    expect(reply.text).toContain(String(reply.headers['x-kong-request-id']));
    expect(reply.text).not.toMatch(/kong|nginx|node|stack/i);
  });
});
