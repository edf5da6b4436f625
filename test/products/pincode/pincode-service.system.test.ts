import { pincodeService } from '../../../services/products/pincode/routes';
import { pincodeOutput } from '../../../services/products/pincode/schema';
import { pincodeSettings } from '../../../services/products/pincode/settings';
import { startSandbox } from '../../../services/sandbox/start-sandbox';
import { buildHarness, type Harness } from '../../kit/harness';
import { useOpened } from '../../support/opened';
import { startTestSandbox } from '../../support/sandbox';

/** A silent provider is not waited for; for inputs that meet one. */
const HASTY = { PINCODE_TIMEOUT_MS: '400' };

const sandbox = useOpened(startTestSandbox);

const harnessWith = (env: Record<string, string>, sandboxUrl = sandbox.url) =>
  buildHarness(pincodeService, { PINCODE_TIMEOUT_MS: '20000', ...env }, { sandboxUrl });

describe('GET /pincode with a test key', () => {
  let service: Harness;
  let hasty: Harness;
  beforeAll(async () => {
    service = await harnessWith({});
    hasty = await harnessWith(HASTY);
  });

  const get = (query: Record<string, string>, mode: 'live' | 'test' = 'test', of = service) =>
    of.call({ method: 'GET', url: '/pincode', query, context: { mode } });

  it.each([
    [{ country: 'IN', pin: '110001' }, 'sandbox_postalpincode.in', '/postalpincode/pincode/110001'],
    [{ country: 'IN', pin: 'Connaught Place' }, 'sandbox_postalpincode.in', '/postalpincode/postoffice/Connaught%20Place'],
    [{ country: 'gb', pin: 'SW1A 1AA' }, 'sandbox_zippopotam.us', '/zippopotam/gb/SW1A'],
  ])('passes the bytes of the provider through for %j', async (query, provider, path) => {
    const response = await get(query);
    expect(response.statusCode).toBe(200);
    expect(response.headers['x-upstream-provider']).toBe(provider);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(response.headers['x-tollgate-mode']).toBe('test');
    const upstream = await fetch(sandbox.url + path);
    expect(response.rawPayload).toEqual(Buffer.from(await upstream.arrayBuffer()));
    expect(pincodeOutput.safeParse(response.json()).success).toBe(true);
  });

  it.each([
    [{ country: 'IN', pin: '110001' }, 'sandbox_postalpincode.in', { country: 'IN', name: 'New Delhi', delivers: true, latitude: null }],
    [{ country: 'US', pin: '90210' }, 'sandbox_zippopotam.us', { country: 'US', name: 'Beverly Hills', delivers: null, latitude: 34.0901 }],
    [{ country: 'IN', pin: '999512' }, 'sandbox_zippopotam.us', { country: 'IN', name: 'Sandbox Nagar', latitude: 12.9716 }],
  ])('answers %j in the one form, from another provider where the first one fails', async (query, provider, expected) => {
    const response = await get({ ...query, format: 'normal' });
    expect([response.statusCode, response.headers['x-upstream-provider']]).toEqual([200, provider]);
    const body = response.json<{ data: { country: string; places: object[] } }>();
    const { country, ...place } = expected;
    expect(body).toMatchObject({ status: 'success', data: { country, provider }, timestamp: '2026-03-14 09:26:53' });
    expect(body.data.places).toContainEqual(expect.objectContaining(place));
    expect(pincodeOutput.safeParse(body).success).toBe(true);
  });

  it('gives callers of the provider’s own JSON never that of another, and nobody where that is switched off', async () => {
    const query = { country: 'IN', pin: '999512' };
    expect((await get(query)).json()).toMatchObject({ status: 502, reason: 'unreachable', provider: 'sandbox_postalpincode.in' });
    const alone = await harnessWith({ PINCODE_FALLBACK: 'off' });
    expect((await get({ ...query, format: 'normal' }, 'test', alone)).statusCode).toBe(502);
    expect((await get({ ...query, format: 'xml' })).statusCode).toBe(400);
  });

  it.each([
    [{ country: 'IN', pin: '999404' }, 404, 'no_records'],
    [{ country: 'IN', pin: '999502' }, 502, 'unreachable'],
    [{ country: 'IN', pin: '999429' }, 502, 'provider_quota'],
    [{ country: 'IN', pin: '999504' }, 504, 'timeout'],
  ])('answers %j with a provider error', async (query, status, reason) => {
    const response = await get(query, 'test', status === 504 ? hasty : service);
    expect(response.statusCode).toBe(status);
    expect(response.headers['content-type']).toMatch(/^application\/problem\+json/);
    expect(response.json()).toMatchObject({ status, code: 'provider_error', reason, request_id: 'request-1' });
    expect(response.body).not.toContain('127.0.0.1');
  });

  it.each([
    ['pin is missing', { country: 'IN' }, 'pin'],
    ['a PIN has five digits', { country: 'IN', pin: '11000' }, 'pin'],
    ['a code has a slash', { country: 'US', pin: '../in/110001' }, 'pin'],
  ])('answers 400 when %s', async (_what, query, field) => {
    const response = await get(query);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({ code: 'invalid_request', errors: [{ field }] });
  });

  it('answers 400 with the supported codes for another country', async () => {
    const { status, supported_countries, detail } = (await get({ country: 'XX', pin: '12345' })).json();
    expect([status, supported_countries.length, detail]).toEqual([400, 70, expect.stringContaining('AD, AR, AS')]);
    expect(supported_countries).toEqual(expect.arrayContaining(['IN', 'US', 'ZA', 'AD']));
  });
});

describe('the pincode service', () => {
  it('never lets sandbox answers reach a live caller', async () => {
    const down = await startSandbox({ host: '127.0.0.1', port: 0, upstreams: [] });
    const service = await harnessWith({ PINCODE_INDIA_URL: down.url });
    const query = { country: 'IN', pin: '110001' };
    expect((await service.call({ method: 'GET', url: '/pincode', query, context: { mode: 'test' } })).statusCode).toBe(200);
    const live = await service.call({ method: 'GET', url: '/pincode', query, context: { mode: 'live' } });
    expect(live.statusCode).toBe(502);
    expect(live.json()).toMatchObject({ code: 'provider_error', reason: 'bad_response' });
    expect(live.headers['x-tollgate-mode']).toBeUndefined();
    await down.close();
  });

  it.each([['10115', 200, undefined]])('asks GeoNames instead when told so: %s', async (pin, status, reason) => {
    const source = { PINCODE_WORLD_PROVIDER: 'geonames', PINCODE_GEONAMES_USERNAME: 'operator' };
    const service = await harnessWith(source);
    const response = await service.call({ method: 'GET', url: '/pincode', query: { country: 'DE', pin }, context: { mode: 'test' } });
    expect(response.statusCode).toBe(status);
    expect(response.headers['x-upstream-provider']).toBe('sandbox_geonames.org');
    expect(response.json().reason).toBe(reason);
  });

  it('refuses GeoNames without an account and malformed countries at start', () => {
    expect(pincodeSettings.safeParse({ PINCODE_WORLD_PROVIDER: 'geonames' }).success).toBe(false);
    expect(pincodeSettings.safeParse({ PINCODE_COUNTRIES: 'US,germany' }).success).toBe(false);
    expect(pincodeSettings.parse({ PINCODE_COUNTRIES: 'US, DE' }).PINCODE_COUNTRIES).toEqual(['US', 'DE']);
  });
});
