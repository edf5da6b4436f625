import { formatIpAddress, type IpAddress, parseIpAddress, parseIpNetwork } from '../../../plugins/core/access/ip-address';
import { type KeyMode } from '../../../plugins/core/ports';
import { type IpDatabases } from '../../../services/ip/ip-databases';
import { lookUpAddress } from '../../../services/ip/look-up-address';
import { type IpAnswer } from '../../../services/ip/ip-answer';
import { type AddressLists } from '../../../services/ip/lists/address-lists';
import { type NetworkFacts } from '../../../services/ip/network-facts';

function addressOf(text: string): IpAddress {
  const address = parseIpAddress(text);
  if (!address) throw new Error(text);
  return address;
}

const noDatabases: IpDatabases = {
  findPlace: () => undefined,
  findAsn: () => undefined,
  findAnonymity: () => [],
  findIpRisk: () => undefined,
  findStaticScore: () => undefined,
  describe: () => [{ source: 'city_database', builtAt: new Date(0) }],
  checkForChanges: async () => undefined,
  close: () => undefined,
};

const PLACE = {
  country: '', countryName: null, city: '', region: null, postalCode: null, latitude: null, longitude: null, accuracyRadiusKm: null, timeZone: null,
  cellular: false,
}; // prettier-ignore

/** What the look-up asked the network about, and what it answered. */
async function lookUp(
  text: string,
  facts: Partial<NetworkFacts> = {},
  databases: Partial<IpDatabases> = {},
  { lists, mode = 'live' }: { lists?: AddressLists; mode?: KeyMode } = {},
) {
  const asked: string[] = [];
  const answer = await lookUpAddress(addressOf(text), {
    databases: { ...noDatabases, ...databases },
    lists,
    mode,
    now: () => 0,
    findNetworkFacts: async (address) => {
      asked.push(address.text);
      return { checked: [], hostname: null, listings: [], abuse: undefined, ...facts };
    },
  });
  return { asked, answer };
}

describe('third parties', () => {
  test.each([
    '0.0.0.0/8',
    '10.0.0.0/8',
    '100.64.0.0/10',
    '127.0.0.0/8',
    '169.254.0.0/16',
    '172.16.0.0/12',
    '192.0.0.0/24',
    '192.0.2.0/24',
    '192.88.99.0/24',
    '192.168.0.0/16',
    '198.18.0.0/15',
    '198.51.100.0/24',
    '203.0.113.0/24',
    '224.0.0.0/4',
    '240.0.0.0/4',
    '::/128',
    '::1/128',
    '::ffff:10.0.0.0/104',
    '64:ff9b::10.0.0.0/104',
    '64:ff9b:1::/48',
    '100::/64',
    '100:0:0:1::/64',
    '2001:2::/48',
    '2001:db8::/32',
    '2002::/16',
    '3fff::/20',
    '5f00::/16',
    'fc00::/7',
    'fe80::/10',
    'fec0::/10',
    'ff00::/8',
  ])('are never asked about addresses in %s', async (text) => {
    const network = parseIpNetwork(text);
    if (!network) throw new Error(text);
    const { bits, value } = network.address;
    const last = value + (1n << BigInt(bits - network.prefixLength)) - 1n;
    for (const each of [value, last]) {
      const { asked, answer } = await lookUp(formatIpAddress(each, bits));
      expect([asked, answer.is_reserved, answer.risk_signals]).toEqual([[], true, []]);
    }
  });

  test.each(['8.8.8.8', '192.0.0.9', '192.31.196.1', '2001:1::1', '2606:4700::1111'])('may be asked about %s', async (text) => {
    expect((await lookUp(text)).asked).toEqual([text]);
  });
});

describe('null is not zero', () => {
  const asked = (source: string, ok = true) => ({ source, as_of: '2026-03-14T09:26:53.000Z', ok });
  const figuresOf = ({ ip_risk, static_ip_score, score_method, score_methods }: IpAnswer) => ({ ip_risk, static_ip_score, score_method, score_methods }); // prettier-ignore
  const nothing = { ip_risk: null, static_ip_score: null, score_method: null, score_methods: { ip_risk: null, static_ip_score: null } };
  const reasons = (ip_risk: string | null, static_ip_score: string | null) => ({ ip_risk, static_ip_score });

  test.each(['127.0.0.1', '10.1.2.3', '::1'])('%s, which nobody was asked about, has no figure', async (text) => {
    const { answer } = await lookUp(text);
    expect(figuresOf(answer)).toEqual(nothing);
    expect(answer.score_reasons).toEqual(reasons('reserved_address', 'reserved_address'));
    expect(answer.checked).toEqual([]);
  });

  test('an address that no source could say anything about has no figure, and the failed sources are named', async () => {
    const failed = { ...asked('reverse_dns', false), error: 'timeout' as const };
    const { answer } = await lookUp('8.8.8.8', { checked: [failed] });
    expect(figuresOf(answer)).toEqual(nothing);
    expect(answer.score_reasons).toEqual(reasons('not_configured', 'sources_failed'));
    expect(answer.checked).toEqual([{ source: 'city_database', as_of: '1970-01-01T00:00:00.000Z', ok: true }, failed]);
  });

  const home = { findAsn: () => ({ number: 64_500, organisation: '' }) };
  const cloud = { findAsn: () => ({ number: 16_509, organisation: '' }) };
  const harmless = { findAnonymity: () => [{ source: 'f', facts: { torExit: false, hosting: false, proxyOrVpn: false } }] };

  test.each<[string, [Partial<NetworkFacts>, Partial<IpDatabases>], (number | null)[], (string | null)[]]>([
    ['a block list', [{ checked: [asked('dnsbl')] }, {}], [0, 15], [null, null]],
    ['abuse reports', [{ checked: [asked('abuseipdb')] }, {}], [0, null], [null, 'not_configured']],
    ['abuse reports that failed', [{ checked: [asked('abuseipdb', false)] }, home], [null, null], ['sources_failed', 'not_configured']],
    ['reverse DNS by name', [{ checked: [asked('reverse_dns')], hostname: 'dns.google' }, {}], [null, 15], ['not_configured', null]],
    ['reverse DNS without a name', [{ checked: [asked('reverse_dns')] }, home], [null, null], ['not_configured', 'unknown_to_source']],
    ['its network', [{}, home], [null, null], ['not_configured', 'not_configured']],
    ['its network of a host', [{}, cloud], [25, 65], [null, null]],
    ['a file of anonymous networks', [{}, harmless], [0, 15], [null, null]],
    ['a file of carriers', [{}, { findPlace: () => ({ ...PLACE, cellular: true }) }], [null, 0.5], ['not_configured', null]],
  ])('an address known to %s only has the scores that follow from it, and a reason for the others', async (_what, given, figures, why) => {
    const { answer } = await lookUp('8.8.8.8', ...given);
    expect([answer.ip_risk, answer.static_ip_score]).toEqual(figures);
    expect(Object.values(answer.score_reasons)).toEqual(why);
  });

  test('an address on a list that says nothing of risk has none', async () => {
    const onRelay: AddressLists = {
      find: () => [{ says: 'relay', source: 'icloud_relay' }],
      knowsAll: () => true,
      describe: () => [],
      checkForChanges: async () => undefined,
      close: () => undefined,
    };
    const { answer } = await lookUp('9.9.9.9', {}, home, { lists: onRelay });
    expect([answer.ip_risk, answer.static_ip_score]).toEqual([null, null]);
  });
});

describe('the time zone', () => {
  const zoneAt = async (changes: object): Promise<unknown> => {
    const { answer } = await lookUp('8.8.8.8', {}, { findPlace: () => ({ ...PLACE, ...changes }) });
    return 'time_zone' in answer.location ? answer.location.time_zone : undefined;
  };

  test.each([
    [40.7128, -74.006, 'America/New_York'],
    [12.9716, 77.5946, 'Asia/Kolkata'],
    [51.5074, -0.1278, 'Europe/London'],
    [-33.8688, 151.2093, 'Australia/Sydney'],
  ])('at %d, %d is %s', async (latitude, longitude, zone) => {
    expect(await zoneAt({ latitude, longitude })).toBe(zone);
  });

  test('is the file’s where it names one, and null without coordinates or on none', async () => {
    expect(await zoneAt({ latitude: 40.7, longitude: -74, timeZone: 'America/Detroit' })).toBe('America/Detroit');
    expect(await zoneAt({ region: 'X' })).toBeNull();
    expect(await zoneAt({ latitude: 91, longitude: 0 })).toBeNull();
  });
});

describe('flags', () => {
  const asn = { findAsn: () => ({ number: 16509, organisation: 'Amazon' }) };
  const home = { findAsn: () => ({ number: 64500, organisation: 'Home' }) };
  const anonymity = (facts: object) => ({
    findAnonymity: () => [{ source: 'f', facts: { torExit: false, hosting: false, proxyOrVpn: false, ...facts } }],
  });
  const flagsOf = async (facts: Partial<NetworkFacts>, databases: Partial<IpDatabases>) =>
    (await lookUp('8.8.8.8', facts, databases)).answer.flags;
  const abuse = (torExit: boolean): Partial<NetworkFacts> => ({
    checked: [{ source: 'abuseipdb', as_of: null, ok: true }],
    abuse: { confidence: 0, torExit },
  });

  test('are null where nobody was asked who would know', async () => {
    expect(await flagsOf({}, {})).toEqual({ hosting: null, proxy_or_vpn: null, tor_exit: null, relay: null });
    expect((await lookUp('10.0.0.1', {}, asn)).answer.flags).toEqual({ hosting: null, proxy_or_vpn: null, tor_exit: null, relay: null });
  });

  test('tell hosting by the network alone, and leave the others open', async () => {
    expect(await flagsOf({}, asn)).toEqual({ hosting: true, proxy_or_vpn: null, tor_exit: null, relay: null });
    expect(await flagsOf({}, home)).toEqual({ hosting: null, proxy_or_vpn: null, tor_exit: null, relay: null });
  });

  test('follow the files and services that know', async () => {
    expect(await flagsOf({}, anonymity({ proxyOrVpn: true }))).toEqual({
      hosting: false,
      proxy_or_vpn: true,
      tor_exit: false,
      relay: null,
    });
    expect(await flagsOf(abuse(true), {})).toEqual({ hosting: null, proxy_or_vpn: null, tor_exit: true, relay: null });
    expect(await flagsOf(abuse(false), {})).toEqual({ hosting: null, proxy_or_vpn: null, tor_exit: false, relay: null });
  });
});

describe('risk signals', () => {
  test('carry their weight and who said so', async () => {
    const { answer } = await lookUp(
      '8.8.8.8',
      { listings: ['dnsbl_xbl', 'dnsbl_pbl'], abuse: { confidence: 50, torExit: false } },
      { findAsn: () => ({ number: 16509, organisation: 'Amazon.com, Inc.' }) },
    );
    expect(answer.risk_signals).toEqual([
      { id: 'hosting', weight: 0.25, source: 'asn_list' },
      { id: 'dnsbl_xbl', weight: 0.7, source: 'dnsbl' },
      { id: 'dnsbl_pbl', weight: 0, source: 'dnsbl' },
      { id: 'abuse_reports', weight: 0.45, source: 'abuseipdb' },
    ]);
    expect(answer.ip_risk).toBe(87.63);
    expect(answer.static_ip_score).toBe(55);
  });

  test('that the sandbox made up are named after it, and files on disk are not', async () => {
    const facts = {
      checked: [{ source: 'abuseipdb', as_of: null, ok: true }],
      listings: ['dnsbl_xbl' as const],
      abuse: { confidence: 50, torExit: true },
    };
    const { answer } = await lookUp('8.8.8.8', facts, { findAsn: () => ({ number: 16509, organisation: '' }) }, { mode: 'test' });
    expect(answer.risk_signals.map(({ source }) => source)).toEqual([
      'asn_list',
      'sandbox_dnsbl',
      'sandbox_abuseipdb',
      'sandbox_abuseipdb',
    ]);
    expect(answer.checked.map(({ source }) => source)).toEqual(['city_database', 'sandbox_abuseipdb']);
    expect([answer.flags.tor_exit, answer.ip_risk]).toEqual([true, 98.14]);
  });

  test('count once when several sources agree', async () => {
    const facts = { torExit: true, hosting: true, proxyOrVpn: false };
    const { answer } = await lookUp(
      '8.8.8.8',
      { abuse: { confidence: 0, torExit: true } },
      {
        findAsn: () => ({ number: 16509, organisation: '' }),
        findAnonymity: () => [
          { source: 'anonymous_ip_mmdb', facts },
          { source: 'ip_risk_mmdb', facts },
        ],
      },
    );
    expect(answer.risk_signals).toEqual([
      { id: 'tor_exit', weight: 0.85, source: 'anonymous_ip_mmdb' },
      { id: 'hosting', weight: 0.25, source: 'anonymous_ip_mmdb' },
    ]);
  });
});

describe('lists of addresses', () => {
  const listsOf = (found: ReturnType<AddressLists['find']>, knowsTor: boolean): AddressLists => ({
    find: () => found,
    knowsAll: (says) => knowsTor && says === 'tor_exit',
    describe: () => [{ source: 'tor_exits', builtAt: new Date(0) }],
    checkForChanges: async () => undefined,
    close: () => undefined,
  });

  test('flag what is on them, with the list as the source and its date among what was checked', async () => {
    const found = [
      { says: 'tor_exit', source: 'tor_exits' },
      { says: 'hosting', source: 'aws' },
      { says: 'relay', source: 'icloud_relay' },
    ] as const;
    const { answer } = await lookUp('9.9.9.9', {}, {}, { lists: listsOf(found, true) });
    expect(answer.flags).toEqual({ hosting: true, proxy_or_vpn: null, tor_exit: true, relay: true });
    expect(answer.risk_signals).toEqual([
      { id: 'tor_exit', weight: 0.85, source: 'tor_exits' },
      { id: 'hosting', weight: 0.25, source: 'aws' },
      { id: 'relay', weight: 0, source: 'icloud_relay' },
    ]);
    expect(answer.checked).toContainEqual({ source: 'tor_exits', as_of: '1970-01-01T00:00:00.000Z', ok: true });
  });

  test('say of an address that it is no Tor exit when the list is whole and young, and nothing of the rest', async () => {
    expect((await lookUp('9.9.9.9', {}, {}, { lists: listsOf([], true) })).answer.flags).toEqual({
      hosting: null,
      proxy_or_vpn: null,
      tor_exit: false,
      relay: null,
    });
    expect((await lookUp('9.9.9.9', {}, {}, { lists: listsOf([], false) })).answer.flags.tor_exit).toBeNull();
  });

  test('are not asked about reserved addresses', async () => {
    const { answer } = await lookUp('10.0.0.1', {}, {}, { lists: listsOf([{ says: 'tor_exit', source: 'tor_exits' }], true) });
    expect([answer.flags, answer.checked]).toEqual([{ hosting: null, proxy_or_vpn: null, tor_exit: null, relay: null }, []]);
  });
});
