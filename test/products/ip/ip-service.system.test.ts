import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatIpAddress } from '../../../plugins/core/access/ip-address';
import { systemClock } from '../../../plugins/core/ports';
import { type Refund } from '../../../services/kit/service/refund';
import { ipAnswer } from '../../../services/products/ip/ip-answer';
import { batchAnswer } from '../../../services/products/ip/look-up-batch';
import { ipService } from '../../../services/products/ip/routes';
import { ipSettings } from '../../../services/products/ip/settings';
import { writeMmdb } from './mmdb-writer';
import { fc, propertyRuns } from '../../support/fast-check';
import { startTestSandbox } from '../../support/sandbox';
import { openedForTests } from '../../support/opened';
import { buildHarness, type Harness } from '../../kit/harness';
import { newFolder } from '../../support/run-folder';

const opened = openedForTests();
const sandbox = opened.use(startTestSandbox);
/** From the shipped data, which takes seconds to read. */
let service: Harness;

/** Live look-ups ask nobody: reverse DNS is off. */
function harnessWith(env: Record<string, string>, sandboxUrl: string | undefined, refund?: Refund): Promise<Harness> {
  const building = buildHarness(ipService, { IP_REVERSE_DNS: 'off', ...env }, { sandboxUrl, clock: systemClock, refund });
  return opened.keep(building);
}

beforeAll(async () => {
  service = await harnessWith({}, sandbox.url, () => Promise.resolve('refunded'));
});

describe('GET /ip from the shipped data', () => {
  const get = (ip: string, mode: 'live' | 'test' = 'live') => service.call({ method: 'GET', url: '/ip', query: { ip }, context: { mode } });

  it('knows where 8.8.8.8 is and who announces it', async () => {
    const response = await get('8.8.8.8');
    expect(response.statusCode).toBe(200);
    expect(response.json()).toEqual({
      ip: '8.8.8.8',
      is_valid: true,
      version: 4,
      is_private: false,
      is_reserved: false,
      is_loopback: false,
      hostname: null,
      country: 'US',
      location: {
        latitude: 37.422,
        longitude: -122.085,
        accuracy_radius_km: null,
        time_zone: 'America/Los_Angeles',
        district: null,
        region: 'California',
        postal_code: null,
        country_name: 'United States',
      },
      city: 'Mountain View',
      asn: 'AS15169',
      ip_risk: 0,
      static_ip_score: 15,
      as_org: 'Google LLC',
      as_type: null,
      as_type_source: null,
      network: '8.8.8.0/24',
      is_bogon: false,
      is_anycast: null,
      embedded_ipv4: null,
      country_facts: { continent: 'NA', currency: 'USD', calling_code: '+1', is_eu: false },
      flags: { hosting: null, proxy_or_vpn: null, tor_exit: null, relay: null },
      flag_reasons: { hosting: 'unknown_to_source', proxy_or_vpn: 'not_configured', tor_exit: 'not_configured', relay: 'not_configured' },
      registration: null,
      risk_signals: [],
      score_method: 'heuristic',
      score_methods: { ip_risk: 'heuristic', static_ip_score: 'heuristic' },
      score_reasons: { ip_risk: null, static_ip_score: null },
      score_inputs: { ip_risk: ['asn_list'], static_ip_score: ['asn_list'] },
      checked: [
        { source: 'city_database', as_of: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/), ok: true },
        { source: 'asn_database', as_of: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:00:00\.000Z$/), ok: true },
      ],
    });
  });

  it('answers a v4-mapped address as its v4 address', async () => {
    expect((await get('::ffff:8.8.8.8')).json()).toEqual((await get('8.8.8.8')).json());
  });

  it.each([
    ['127.0.0.1', { is_loopback: true, is_private: false }],
    ['10.1.2.3', { is_loopback: false, is_private: true }],
  ])('tells nothing but the range of the reserved address %s', async (ip, flags) => {
    const response = await get(ip, 'test');
    const nothing = { hostname: null, country: '', location: {}, city: '', asn: '', ip_risk: null, static_ip_score: null, checked: [] };
    expect(response.json()).toMatchObject({ ...flags, is_reserved: true, ...nothing });
  });

  it('looks up the caller when no address is given', async () => {
    const response = await service.call({ method: 'GET', url: '/ip', context: { callerAddress: '8.8.4.4' } });
    expect(response.json()).toMatchObject({ ip: '8.8.4.4', asn: 'AS15169' });
  });

  it.each(['', '010.1.1.1'])('refuses %j', async (ip) => {
    const response = await get(ip);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({ code: 'invalid_request', errors: [{ field: 'ip' }], request_id: 'request-1' });
  });

  it('answers every address in the documented shape', async () => {
    const v4 = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((value) => formatIpAddress(value, 32));
    const v6 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map((value) => formatIpAddress(value, 128));
    await fc.assert(
      fc.asyncProperty(fc.oneof(v4, v6), async (ip) => {
        const response = await get(ip);
        return response.statusCode === 200 && ipAnswer.safeParse(response.json()).success;
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  it.each([
    ['192.52.193.20', { hostname: '192-52-193-20.pool.isp.sandbox.example', static_ip_score: 0 }],
    ['192.52.193.23', { hostname: null, ip_risk: 0, checked: expect.arrayContaining([expect.objectContaining({ source: 'sandbox_reverse_dns', ok: false, error: 'timeout' })]) }], // prettier-ignore
    ['192.52.193.31', { ip_risk: 98 }],
    ['192.52.193.40', { ip_risk: 90, risk_signals: [{ id: 'abuse_reports', weight: 0.9, source: 'sandbox_abuseipdb' }] }],
  ])('the sandbox answers for %s', async (ip, expected) => {
    const response = await service.call({ method: 'GET', url: '/ip', query: { ip }, context: { mode: 'test' } });
    expect(response.statusCode).toBe(200);
    expect(response.headers['x-tollgate-mode']).toBe('test');
    expect(response.json()).toMatchObject(expected);
  });
});

it('a test key is told who holds an address, by the registry of the sandbox', async () => {
  const get = async (ip: string) => (await service.call({ method: 'GET', url: '/ip', query: { ip }, context: { mode: 'test' } })).json();
  const known = await get('192.52.193.21');
  expect(known.registration).toEqual({
    company: 'Sandbox Hosting Ltd',
    network_name: 'SANDBOX-NET',
    abuse_email: 'abuse@sandbox.example',
    abuse_phone: '+999-5550-100',
  });
  const unknown = await get('8.8.8.8');
  expect(unknown.registration).toBeNull();
  expect(unknown.checked).toContainEqual({ source: 'sandbox_rdap', as_of: expect.any(String), ok: true });
  // Nobody is asked about a reserved address.
  expect(await get('10.0.0.1')).toMatchObject({ registration: null, checked: [] });
});

describe('POST /ip', () => {
  const post = (payload: object, context: object = {}) =>
    service.call({ method: 'POST', url: '/ip', payload, context: { units: 100, ...context } });
  type Results = { results: { ip: string; is_valid: boolean; asn?: string }[] };

  it('answers each address as GET does, in the order in which they came', async () => {
    const ips = ['8.8.8.8', '010.1', '::1', '8.8.8.8', '2001:4860:4860::8888'];
    const { results } = (await post({ ips }, { mode: 'test' })).json<Results>();
    const single = (ip: string) => service.call({ method: 'GET', url: '/ip', query: { ip }, context: { mode: 'test' } });
    expect(results.map(({ ip, is_valid: isValid }) => [ip, isValid])).toEqual(ips.map((ip) => [ip, ip !== '010.1']));
    const { checked: asked, ...facts } = batchAnswer.parse({ results }).results[0] as Record<string, unknown>;
    expect(asked).toHaveLength(6);
    expect((await single('8.8.8.8')).json()).toMatchObject(facts);
    expect(results[1]).toEqual({ ip: '010.1', is_valid: false });
  });

  it('takes a list as the text of a form', async () => {
    const form = { 'content-type': 'application/x-www-form-urlencoded' };
    const payload = 'ips=8.8.8.8%2C1.1.1.1+9.9.9.9';
    const answer = await service.call({ method: 'POST', url: '/ip', headers: form, payload, context: { units: 100 } });
    expect(answer.json<Results>().results.map(({ ip }) => ip)).toEqual(['8.8.8.8', '1.1.1.1', '9.9.9.9']);
  });

  it('answers 100 addresses and refuses 101, none and what is no list', async () => {
    const many = (count: number) => Array.from({ length: count }, (_, index) => `9.9.${index}.9`);
    expect((await post({ ips: many(100) })).json<Results>().results).toHaveLength(100);
    for (const body of [{ ips: many(101) }, { ips: [] }, { ips: ' ' }, {}, { ips: [1, {}] }, { ip: '8.8.8.8' }])
      expect([body, (await post(body)).statusCode]).toEqual([body, 400]);
  });

  it('repeats no more than the start of what is no address', async () => {
    const { results } = (await post({ ips: ['x'.repeat(5_000)] })).json<Results>();
    expect(results).toEqual([{ ip: 'x'.repeat(64), is_valid: false }]);
  });

  it('costs a unit for each address, one for each time it came, and nothing for what is none', async () => {
    const costOf = async (...ips: string[]) =>
      (await service.call({ method: 'POST', url: '/ip', payload: { ips }, context: { units: 100 } })).headers['x-tollgate-charged'];
    expect(await costOf('8.8.8.8', '::1')).toBe('2');
    expect(await costOf('8.8.8.8', 'x', '8.8.8.8', '010.1')).toBe('2');
    expect(await costOf('x', 'y')).toBe('1');
    expect(await costOf(...Array<string>(100).fill('10.0.0.1'))).toBe('100');
  });

  it('answers nothing at a gateway that took the price of one address', async () => {
    for (const units of [undefined, 1, 99]) {
      const refused = await post({ ips: ['8.8.8.8'] }, { units });
      expect([refused.statusCode, refused.json()]).toEqual([503, expect.objectContaining({ code: 'upstream_not_configured' })]);
    }
    expect((await post({ ips: ['8.8.8.8'] }, { units: undefined, chargedDay: null, quota: null })).statusCode).toBe(200);
  });
});

describe('GET /ip from configured MaxMind files', () => {
  const folder = newFolder();

  async function fileOf(name: string, records: Parameters<typeof writeMmdb>[1]): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, writeMmdb(name, records));
    return path;
  }

  it("gives MaxMind's own scores and says so", async () => {
    const city = { country: { iso_code: 'IN', names: { en: 'India' } }, city: { names: { en: 'Pune' } } };
    const env = {
      IP_CITY_DATABASE: await fileOf('city.mmdb', { '81.2.69.0/24': city }),
      IP_ASN_DATABASE: await fileOf('asn.mmdb', { '81.2.69.0/24': { autonomous_system_number: 64500 } }),
      IP_RISK_DATABASE: await fileOf('risk.mmdb', { '81.2.69.0/24': { ip_risk: 42.5, is_anonymous_vpn: true } }),
      IP_STATIC_SCORE_DATABASE: await fileOf('static.mmdb', { '81.2.69.0/25': { score: 99.5 } }),
    };
    const configured = await harnessWith(env, sandbox.url);
    const get = async (ip: string) => (await configured.call({ method: 'GET', url: '/ip', query: { ip } })).json();
    expect(await get('81.2.69.1')).toMatchObject({
      country: 'IN',
      city: 'Pune',
      asn: 'AS64500',
      ip_risk: 42.5,
      static_ip_score: 99.5,
      score_method: 'maxmind',
      risk_signals: [{ id: 'proxy_or_vpn', weight: 0.5, source: 'ip_risk_mmdb' }],
    });
    expect(await get('81.2.69.200')).toMatchObject({
      static_ip_score: 15,
      score_method: 'heuristic',
      score_methods: { ip_risk: 'maxmind', static_ip_score: 'heuristic' },
    });
    expect(await get('9.9.9.9')).toMatchObject({ ip_risk: 0, country: '', location: {}, asn: '' });
  });
});

describe('settings of the IP service', () => {
  it.each([
    [{ IP_DNS_SERVERS: '1.1.1.1,[2606:4700::1111]:53,9.9.9.9:5353' }, true],
    [{ IP_DNSBL_ZONE: 'zen' }, false],
  ])('%j is judged', (env, valid) => expect(ipSettings.safeParse(env).success).toBe(valid));

  it('switch third parties off unless asked for', () => {
    const settings = ipSettings.parse({});
    expect([settings.IP_DNSBL_ZONE, settings.IP_ABUSEIPDB_KEY]).toEqual([undefined, undefined]);
  });
});
