import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { formatIpAddress } from '../../../plugins/core/ip-address';
import { systemClock } from '../../../plugins/core/ports';
import { ipAnswer } from '../../../services/ip/ip-answer';
import { createIpDeps, ipService, type IpDeps } from '../../../services/ip/routes';
import { ipSettings } from '../../../services/ip/settings';
import { createLog } from '../../../services/kit/log';
import { createMetrics } from '../../../services/kit/metrics';
import { createSandboxUpstreams } from '../../../services/sandbox/sandbox-upstreams';
import { startSandbox, type Sandbox } from '../../../services/sandbox/start-sandbox';
import { anyCharacter } from '../../support/any-text';
import { onceInThree } from '../../support/once-in-three';
import { createHarness, type Harness } from '../kit/harness';
import { writeMmdb } from './mmdb-writer';

let sandbox: Sandbox;
const opened: IpDeps[] = [];

/** Live look-ups ask nobody: reverse DNS is off. */
async function harnessWith(env: Record<string, string>, sandboxUrl: string | undefined): Promise<Harness> {
  const deps = await createIpDeps({
    settings: ipSettings.parse({ IP_REVERSE_DNS: 'off', ...env }),
    common: { sandboxUrl },
    log: createLog('ip', { level: 'silent' }),
    clock: systemClock,
    metrics: createMetrics(),
  });
  opened.push(deps);
  return createHarness(ipService, { deps });
}

beforeAll(async () => {
  sandbox = await startSandbox({ host: '127.0.0.1', port: 0, upstreams: createSandboxUpstreams() });
});
afterAll(async () => {
  await Promise.all(opened.map((deps) => deps.close()));
  await sandbox.close();
});

describe('GET /ip from the shipped data', () => {
  let service: Harness;
  beforeAll(async () => (service = await harnessWith({}, sandbox.url)));

  const get = (ip: string, mode: 'live' | 'test' = 'live') => service.call({ method: 'GET', url: '/ip', query: { ip }, context: { mode } });

  test('knows where 8.8.8.8 is and who announces it', async () => {
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
        region: 'California',
        postal_code: null,
        country_name: 'United States',
      },
      city: 'Mountain View',
      asn: 'AS15169',
      ip_risk: 0,
      static_ip_score: 15,
      as_org: 'Google LLC',
      flags: { hosting: null, proxy_or_vpn: null, tor_exit: null },
      risk_signals: [],
      score_method: 'heuristic',
      score_methods: { ip_risk: 'heuristic', static_ip_score: 'heuristic' },
      checked: [
        { source: 'city_database', as_of: expect.stringMatching(/^20\d\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/), ok: true },
        { source: 'asn_database', as_of: null, ok: true },
      ],
    });
  });

  test('knows v6 addresses and answers them in canonical form', async () => {
    const body = (await get('2001:4860:4860:0:0:0:0:8888')).json();
    expect(body).toMatchObject({ ip: '2001:4860:4860::8888', version: 6, asn: 'AS15169', is_reserved: false });
    expect(body.country).toMatch(/^[A-Z]{2}$/);
  });

  test('answers a v4-mapped address as its v4 address', async () => {
    expect((await get('::ffff:8.8.8.8')).json()).toEqual((await get('8.8.8.8')).json());
  });

  test.each([
    ['127.0.0.1', { is_loopback: true, is_private: false }],
    ['10.1.2.3', { is_loopback: false, is_private: true }],
    ['fd00::1', { is_loopback: false, is_private: true }],
    ['203.0.113.7', { is_loopback: false, is_private: false }],
    ['2001:0:53aa:64c::1', { is_loopback: false, is_private: false }],
  ])('tells nothing but the range of the reserved address %s', async (ip, flags) => {
    const response = await get(ip, 'test');
    expect(response.json()).toMatchObject({
      ...flags,
      is_reserved: true,
      hostname: null,
      country: '',
      location: {},
      city: '',
      asn: '',
      ip_risk: null,
      static_ip_score: null,
      checked: [],
    });
  });

  test('weighs a hosting network', async () => {
    expect((await get('1.1.1.1')).json()).toMatchObject({
      asn: 'AS13335',
      ip_risk: 25,
      static_ip_score: 65,
      risk_signals: [{ id: 'hosting', weight: 0.25, source: 'asn_list' }],
    });
  });

  test('looks up the caller when no address is given', async () => {
    const response = await service.call({ method: 'GET', url: '/ip', context: { callerAddress: '8.8.4.4' } });
    expect(response.json()).toMatchObject({ ip: '8.8.4.4', asn: 'AS15169' });
  });

  test.each([
    '',
    ' ',
    'abc',
    '256.1.1.1',
    '1.2',
    '1.2.3',
    '010.1.1.1',
    '1.1.1.01',
    '0x7f.1',
    '2130706433',
    '1.2.3.4:80',
    '[::1]:80',
    '[::1]',
    'fe80::1%eth0',
    '8.8.8.8/24',
    ' 8.8.8.8',
    '8.8.8.8\n',
    '1.2.3.4.5',
    '::1::',
    ':::',
    '12345::',
    '::ffff:1.2.3',
    '١.١.١.١',
    'localhost',
    '8.8.8.8,1.1.1.1',
  ])('refuses %j', async (ip) => {
    const response = await get(ip);
    expect(response.statusCode).toBe(400);
    expect(response.json()).toMatchObject({ code: 'invalid_request', errors: [{ field: 'ip' }], request_id: 'request-1' });
  });

  test('refuses two different addresses', async () => {
    const response = await service.call({ method: 'GET', url: '/ip?ip=8.8.8.8&ip=1.1.1.1' });
    expect(response.statusCode).toBe(400);
  });

  test('takes GET only', async () => {
    const response = await service.call({ method: 'POST', url: '/ip', payload: { ip: '8.8.8.8' } });
    expect(response.statusCode).toBe(405);
    expect(response.headers.allow).toContain('GET');
  });

  test('answers every address in the documented shape', async () => {
    const v4 = fc.bigInt({ min: 0n, max: (1n << 32n) - 1n }).map((value) => formatIpAddress(value, 32));
    const v6 = fc.bigInt({ min: 0n, max: (1n << 128n) - 1n }).map((value) => formatIpAddress(value, 128));
    await fc.assert(
      fc.asyncProperty(fc.oneof(v4, v6), async (ip) => {
        const response = await get(ip);
        return response.statusCode === 200 && ipAnswer.safeParse(response.json()).success;
      }),
      { numRuns: 300 },
    );
  });

  test('never answers 500, whatever it is asked', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anyCharacter, maxLength: 60 }), async (ip) => [200, 400].includes((await get(ip)).statusCode)),
      { numRuns: 300 },
    );
  });

  describe('with a test key', () => {
    test.each([
      ['8.8.8.8', { hostname: 'dns.google', ip_risk: 0, static_ip_score: 15 }],
      ['2001:4860:4860::8888', { hostname: 'dns.google' }],
      ['192.52.193.20', { hostname: '192-52-193-20.pool.isp.sandbox.example', static_ip_score: 0 }],
      ['192.52.193.21', { hostname: 'static.customer.sandbox.example', static_ip_score: 45 }],
      ['192.52.193.22', { hostname: null }],
      ['192.52.193.23', { hostname: null, ip_risk: 0, checked: expect.arrayContaining([expect.objectContaining({ source: 'reverse_dns', ok: false, error: 'timeout' })]) }], // prettier-ignore
      ['192.52.193.30', { ip_risk: 88 }],
      ['192.52.193.31', { ip_risk: 98 }],
      ['192.52.193.32', { ip_risk: 0, static_ip_score: 5, risk_signals: [{ id: 'dnsbl_pbl', weight: 0, source: 'dnsbl' }] }],
      ['192.52.193.33', { ip_risk: 0, risk_signals: [] }],
      ['192.52.193.40', { ip_risk: 90, risk_signals: [{ id: 'abuse_reports', weight: 0.9, source: 'abuseipdb' }] }],
      ['192.52.193.41', { ip_risk: 93.1 }],
    ])('the sandbox answers for %s', async (ip, expected) => {
      let tries = 0;
      // Each source has a second to answer; what one did not tell is remembered for half a minute.
      await onceInThree(async () => {
        const of = tries++ === 0 ? service : await harnessWith({}, sandbox.url);
        const response = await of.call({ method: 'GET', url: '/ip', query: { ip }, context: { mode: 'test' } });
        expect(response.statusCode).toBe(200);
        expect(response.headers['x-tollgate-mode']).toBe('test');
        expect(response.json()).toMatchObject(expected);
      });
    });

    test('the sandbox is required', async () => {
      const without = await harnessWith({}, undefined);
      const response = await without.call({ method: 'GET', url: '/ip', query: { ip: '8.8.8.8' }, context: { mode: 'test' } });
      expect(response.json()).toMatchObject({ status: 503, code: 'upstream_not_configured' });
    });
  });
});

describe('GET /ip from configured MaxMind files', () => {
  let folder: string;
  beforeAll(async () => (folder = await mkdtemp(join(tmpdir(), 'ip-service-'))));
  afterAll(() => rm(folder, { recursive: true }));

  async function fileOf(name: string, records: Parameters<typeof writeMmdb>[1]): Promise<string> {
    const path = join(folder, name);
    await writeFile(path, writeMmdb(name, records));
    return path;
  }

  test("gives MaxMind's own scores and says so", async () => {
    const city = { country: { iso_code: 'IN', names: { en: 'India' } }, city: { names: { en: 'Pune' } } };
    const service = await harnessWith(
      {
        IP_CITY_DATABASE: await fileOf('city.mmdb', { '81.2.69.0/24': city }),
        IP_ASN_DATABASE: await fileOf('asn.mmdb', {
          '81.2.69.0/24': { autonomous_system_number: 64500, autonomous_system_organization: 'Example' },
        }),
        IP_RISK_DATABASE: await fileOf('risk.mmdb', { '81.2.69.0/24': { ip_risk: 42.5, is_anonymous_vpn: true } }),
        IP_STATIC_SCORE_DATABASE: await fileOf('static.mmdb', { '81.2.69.0/25': { score: 99.5 } }),
      },
      sandbox.url,
    );
    const get = async (ip: string) => (await service.call({ method: 'GET', url: '/ip', query: { ip } })).json();
    const body = await get('81.2.69.1');
    expect(body).toMatchObject({
      country: 'IN',
      city: 'Pune',
      asn: 'AS64500',
      as_org: 'Example',
      ip_risk: 42.5,
      static_ip_score: 99.5,
      score_method: 'maxmind',
      risk_signals: [{ id: 'proxy_or_vpn', weight: 0.5, source: 'ip_risk_mmdb' }],
    });
    expect(body.location).toMatchObject({ country_name: 'India', latitude: null });
    expect(await get('81.2.69.200')).toMatchObject({
      static_ip_score: 15,
      score_method: 'heuristic',
      score_methods: { ip_risk: 'maxmind', static_ip_score: 'heuristic' },
    });
    expect(await get('9.9.9.9')).toMatchObject({ ip_risk: 0, country: '', location: {}, asn: '' });
  });

  test('refuses to start with a file that is not there', async () => {
    await expect(harnessWith({ IP_CITY_DATABASE: join(folder, 'absent.mmdb') }, undefined)).rejects.toThrow('absent.mmdb');
  });
});

describe('settings of the IP service', () => {
  test.each([
    [{ IP_DNS_SERVERS: '1.1.1.1,[2606:4700::1111]:53,9.9.9.9:5353' }, true],
    [{ IP_DNS_SERVERS: 'dns.google' }, false],
    [{ IP_DNSBL_ZONE: 'zen.spamhaus.org' }, true],
    [{ IP_DNSBL_ZONE: 'zen' }, false],
    [{ IP_ABUSEIPDB_URL: 'ftp://x' }, false],
  ])('%j is judged', (env, valid) => expect(ipSettings.safeParse(env).success).toBe(valid));

  test('switch third parties off unless asked for', () => {
    const settings = ipSettings.parse({});
    expect([settings.IP_DNSBL_ZONE, settings.IP_ABUSEIPDB_KEY]).toEqual([undefined, undefined]);
  });
});
