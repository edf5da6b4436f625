import { type KeyMode } from '../../../plugins/core/ports';
import { type IpDatabases } from '../../../services/products/ip/ip-databases';
import { UNKNOWN_PLACE } from '../../../services/products/ip/ip-records';
import { lookUpAddress } from '../../../services/products/ip/look-up-address';
import { type AddressLists } from '../../../services/products/ip/lists/address-lists';
import { type NetworkFacts } from '../../../services/products/ip/network-facts';
import { addressOf } from './address-of';
import { abuseWeight, heuristicRisk, heuristicStaticScore, RISK_WEIGHTS, type RiskSignal } from '../../../services/products/ip/scores';
import { fc } from '../../support/fast-check';

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

const listsOf = (found: ReturnType<AddressLists['find']>, knowsTor: boolean): AddressLists => ({
  find: () => found,
  has: (says) => knowsTor && says === 'tor_exit',
  knowsAll: (says) => knowsTor && says === 'tor_exit',
  describe: () => [{ source: 'tor_exits', builtAt: new Date(0) }],
  checkForChanges: async () => undefined,
  close: () => undefined,
});

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
  it.each(['10.1.2.3', '::1', '64:ff9b::10.0.0.1'])('are never asked about %s, a reserved address, which has no figure', async (text) => {
    const { asked, answer } = await lookUp(text);
    expect([asked, answer.is_reserved, answer.risk_signals, answer.checked]).toEqual([[], true, [], []]);
    expect(answer.score_reasons).toEqual({ ip_risk: 'reserved_address', static_ip_score: 'reserved_address' });
    expect([answer.ip_risk, answer.static_ip_score, answer.score_method]).toEqual([null, null, null]);
  });

  it.each(['8.8.8.8', '192.0.0.9', '2001:1::1'])('may be asked about %s', async (text) => {
    expect((await lookUp(text)).asked).toEqual([text]);
  });
});

describe('null is not zero', () => {
  const asked = (source: string, ok = true) => ({ source, as_of: '2026-03-14T09:26:53.000Z', ok });

  it('an address that no source could say anything about has no figure, and the failed sources are named', async () => {
    const failed = { ...asked('reverse_dns', false), error: 'timeout' as const };
    const { answer } = await lookUp('8.8.8.8', { checked: [failed] });
    const methods = { score_method: null, score_methods: { ip_risk: null, static_ip_score: null } };
    expect(answer).toMatchObject({ ip_risk: null, static_ip_score: null, ...methods });
    expect(answer.score_reasons).toEqual({ ip_risk: 'not_configured', static_ip_score: 'sources_failed' });
    expect(answer.checked).toEqual([{ source: 'city_database', as_of: '1970-01-01T00:00:00.000Z', ok: true }, failed]);
  });

  const home = { findAsn: () => ({ number: 64_500, organisation: '', network: '8.8.8.0/24' }) };
  const harmless = { findAnonymity: () => [{ source: 'f', facts: { torExit: false, hosting: false, proxyOrVpn: false } }] };

  it.each<[string, [Partial<NetworkFacts>, Partial<IpDatabases>], (number | null)[], (string | null)[]]>([
    ['a block list', [{ checked: [asked('dnsbl')] }, {}], [0, 15], [null, null]],
    ['abuse reports that failed', [{ checked: [asked('abuseipdb', false)] }, {}], [null, null], ['sources_failed', 'not_configured']],
    ['reverse DNS without a name', [{ checked: [asked('reverse_dns')] }, {}], [null, null], ['not_configured', 'unknown_to_source']],
    ['its network', [{}, home], [0, 15], [null, null]],
    ['a file of anonymous networks', [{}, harmless], [0, 15], [null, null]],
    ['a file of carriers', [{}, { findPlace: () => ({ ...UNKNOWN_PLACE, cellular: true }) }], [null, 0.5], ['not_configured', null]],
  ])('an address known to %s only has the scores that follow from it, and a reason for the others', async (_what, given, figures, why) => {
    const { answer } = await lookUp('8.8.8.8', ...given);
    expect([answer.ip_risk, answer.static_ip_score]).toEqual(figures);
    expect(Object.values(answer.score_reasons)).toEqual(why);
  });

  it('an address on a list that says nothing of risk has none', async () => {
    const onRelay = listsOf([{ says: 'relay', source: 'icloud_relay' }], true);
    const { answer } = await lookUp('9.9.9.9', {}, {}, { lists: onRelay });
    expect([answer.ip_risk, answer.static_ip_score]).toEqual([null, null]);
  });
});

describe('an anycast address', () => {
  const place = { findPlace: () => ({ ...UNKNOWN_PLACE, country: 'US', city: 'Ashburn', latitude: 39, longitude: -77 }) };
  const viewOf = async (lists?: AddressLists): Promise<unknown[]> => {
    const { answer } = await lookUp('8.8.8.8', {}, place, lists && { lists });
    return [answer.is_anycast, answer.country, answer.city, answer.risk_signals];
  };

  it('has no city, and is known only where the list of them is', async () => {
    expect(await viewOf()).toEqual([null, 'US', 'Ashburn', []]);
    expect(await viewOf(listsOf([{ says: 'anycast', source: 'anycast' }], false))).toEqual([true, 'US', '', []]);
    expect(await viewOf({ ...listsOf([], false), knowsAll: (says) => says === 'anycast' })).toEqual([false, 'US', 'Ashburn', []]);
  });
});

describe('an IPv4 address inside an IPv6 address', () => {
  it.each([
    ['64:ff9b::8.8.8.8', { ip: '8.8.8.8', by: 'nat64' }, ['8.8.8.8']],
    ['2002:808:808::1', { ip: '8.8.8.8', by: '6to4' }, ['8.8.8.8']],
    ['2002:7f00:1::808:808', { ip: '127.0.0.1', by: '6to4' }, []],
    ['64:ff9b:1::808:808', null, []],
  ])('of %s is named, and looked up unless it is reserved', async (text, embedded, expected) => {
    const { answer, asked } = await lookUp(text);
    expect([answer.embedded_ipv4, asked]).toEqual([embedded, expected]);
  });

  it('decides of 6to4 what is a bogon; the block stays reserved, as the registry has it', async () => {
    const found = { findAsn: () => ({ number: 15_169, organisation: 'Google LLC', network: '8.8.8.0/24' }) };
    const { answer } = await lookUp('2002:808:808::1', {}, found);
    expect(answer).toMatchObject({ version: 6, is_reserved: true, is_bogon: false, asn: 'AS15169', network: '8.8.8.0/24' });
    const inside = (await lookUp('2002:a00:1::1', {}, found)).answer;
    expect(inside).toMatchObject({ is_reserved: true, is_bogon: true, asn: '', score_reasons: { ip_risk: 'reserved_address' } });
  });
});

describe('what follows from country and network', () => {
  const factsOf = async (country: string) =>
    (await lookUp('8.8.8.8', {}, { findPlace: () => ({ ...UNKNOWN_PLACE, country }) })).answer.country_facts;

  it('is continent, currency, calling code and membership of the European Union', async () => {
    expect(await factsOf('IN')).toEqual({ continent: 'AS', currency: 'INR', calling_code: '+91', is_eu: false });
    expect(await factsOf('GR')).toEqual({ continent: 'EU', currency: 'EUR', calling_code: '+30', is_eu: true });
    expect(await factsOf('GB')).toMatchObject({ continent: 'EU', is_eu: false });
    expect([await factsOf(''), await factsOf('ZZ'), await factsOf('constructor')]).toEqual([null, null, null]);
  });

  it.each([
    [16_509, 'Amazon.com, Inc.', 'hosting', 'asn_list'],
    [64_500, 'Reliance Jio Infocomm Limited', 'isp', 'as_org'],
    [64_500, 'State Bank of Example', 'business', 'as_org'],
    [64_500, 'Example Holdings', null, null],
  ])('AS%s, %s, is of the type %s by %s', async (number, organisation, type, source) => {
    const { answer } = await lookUp('8.8.8.8', {}, { findAsn: () => ({ number, organisation, network: '8.8.8.0/24' }) });
    expect([answer.as_type, answer.as_type_source, answer.network, answer.is_bogon]).toEqual([type, source, '8.8.8.0/24', false]);
  });

  it('is nothing for an address that no network announces', async () => {
    const { answer } = await lookUp('8.8.8.8');
    expect([answer.as_type, answer.network, answer.is_bogon]).toEqual([null, null, true]);
  });
});

describe('the time zone', () => {
  const zoneAt = async (changes: object): Promise<unknown> => {
    const { answer } = await lookUp('8.8.8.8', {}, { findPlace: () => ({ ...UNKNOWN_PLACE, ...changes }) });
    return 'time_zone' in answer.location ? answer.location.time_zone : undefined;
  };

  it('is that of the coordinates, the file’s where it names one, and null without coordinates or on none', async () => {
    expect(await zoneAt({ latitude: 12.9716, longitude: 77.5946 })).toBe('Asia/Kolkata');
    expect(await zoneAt({ latitude: 40.7, longitude: -74, timeZone: 'America/Detroit' })).toBe('America/Detroit');
    expect(await zoneAt({ region: 'X' })).toBeNull();
    expect(await zoneAt({ latitude: 91, longitude: 0 })).toBeNull();
  });
});

/** What nobody was asked who would know. */
const UNKNOWN = { hosting: null, proxy_or_vpn: null, tor_exit: null, relay: null };

describe('flags', () => {
  const asn = { findAsn: () => ({ number: 16509, organisation: 'Amazon', network: '8.8.8.0/24' }) };
  const home = { findAsn: () => ({ number: 64500, organisation: 'Home', network: '8.8.8.0/24' }) };
  const anonymity = (facts: object) => ({
    findAnonymity: () => [{ source: 'f', facts: { torExit: false, hosting: false, proxyOrVpn: false, ...facts } }],
  });
  const flagsOf = async (facts: Partial<NetworkFacts>, databases: Partial<IpDatabases>) =>
    (await lookUp('8.8.8.8', facts, databases)).answer.flags;
  const abuse = (torExit: boolean): Partial<NetworkFacts> => ({
    checked: [{ source: 'abuseipdb', as_of: null, ok: true }],
    abuse: { confidence: 0, torExit },
  });

  it('are null where nobody was asked who would know', async () => {
    expect(await flagsOf({}, {})).toEqual(UNKNOWN);
    expect((await lookUp('10.0.0.1', {}, asn)).answer.flags).toEqual(UNKNOWN);
  });

  it('tell hosting by the network alone, and leave the others open', async () => {
    expect(await flagsOf({}, asn)).toEqual({ ...UNKNOWN, hosting: true });
    expect(await flagsOf({}, home)).toEqual(UNKNOWN);
  });

  it('say why they are null, and only then', async () => {
    const reasons = async (...call: Parameters<typeof lookUp>) => (await lookUp(...call)).answer.flag_reasons;
    const unset = { hosting: 'unknown_to_source', proxy_or_vpn: 'not_configured', tor_exit: 'not_configured', relay: 'not_configured' };
    expect(await reasons('8.8.8.8', {}, {})).toEqual(unset);
    expect(await reasons('8.8.8.8', {}, asn)).toEqual({ ...unset, hosting: null });
    expect(await reasons('8.8.8.8', {}, anonymity({}))).toEqual({
      hosting: null,
      proxy_or_vpn: null,
      tor_exit: null,
      relay: 'not_configured',
    });
    // A list that is too old names exits, and says of nothing that it is none.
    const old = { ...listsOf([], false), has: (says: string) => says === 'tor_exit' };
    expect(await reasons('8.8.8.8', {}, {}, { lists: old })).toEqual({ ...unset, tor_exit: 'unknown_to_source' });
    expect(new Set(Object.values(await reasons('10.0.0.1', {}, asn)))).toEqual(new Set(['reserved_address']));
  });

  it('follow the files and services that know', async () => {
    const known = { hosting: false, proxy_or_vpn: true, tor_exit: false, relay: null };
    expect(await flagsOf({}, anonymity({ proxyOrVpn: true }))).toEqual(known);
    expect(await flagsOf(abuse(true), {})).toEqual({ ...UNKNOWN, tor_exit: true });
    expect(await flagsOf(abuse(false), {})).toEqual({ ...UNKNOWN, tor_exit: false });
  });
});

describe('risk signals', () => {
  it('carry their weight and who said so', async () => {
    const { answer } = await lookUp(
      '8.8.8.8',
      { listings: ['dnsbl_xbl', 'dnsbl_pbl'], abuse: { confidence: 50, torExit: false } },
      { findAsn: () => ({ number: 16509, organisation: 'Amazon.com, Inc.', network: '8.8.8.0/24' }) },
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

  it('that the sandbox made up are named after it, and files on disk are not', async () => {
    const facts = {
      checked: [{ source: 'abuseipdb', as_of: null, ok: true }],
      listings: ['dnsbl_xbl' as const],
      abuse: { confidence: 50, torExit: true },
    };
    const { answer } = await lookUp(
      '8.8.8.8',
      facts,
      { findAsn: () => ({ number: 16509, organisation: '', network: '8.8.8.0/24' }) },
      { mode: 'test' },
    );
    const sources = ['asn_list', 'sandbox_dnsbl', 'sandbox_abuseipdb', 'sandbox_abuseipdb'];
    expect(answer.risk_signals.map(({ source }) => source)).toEqual(sources);
    expect(answer.checked.map(({ source }) => source)).toEqual(['city_database', 'sandbox_abuseipdb']);
    expect([answer.flags.tor_exit, answer.ip_risk]).toEqual([true, 98.14]);
  });

  it('count once when several sources agree', async () => {
    const facts = { torExit: true, hosting: true, proxyOrVpn: false };
    const { answer } = await lookUp(
      '8.8.8.8',
      { abuse: { confidence: 0, torExit: true } },
      {
        findAsn: () => ({ number: 16509, organisation: '', network: '8.8.8.0/24' }),
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
  it('flag what is on them, with the list as the source and its date among what was checked', async () => {
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

  it('say of an address that it is no Tor exit when the list is whole and young, and nothing of the rest', async () => {
    const flagsWith = async (lists: AddressLists) => (await lookUp('9.9.9.9', {}, {}, { lists })).answer.flags;
    expect(await flagsWith(listsOf([], true))).toEqual({ ...UNKNOWN, tor_exit: false });
    expect(await flagsWith(listsOf([], false))).toEqual(UNKNOWN);
  });

  it('are not asked about reserved addresses', async () => {
    const { answer } = await lookUp('10.0.0.1', {}, {}, { lists: listsOf([{ says: 'tor_exit', source: 'tor_exits' }], true) });
    expect([answer.flags, answer.checked]).toEqual([UNKNOWN, []]);
  });
});

function signal(weight: number): RiskSignal {
  return { id: 'hosting', weight, source: 'test' };
}

describe('risk of an address', () => {
  it('is 0 without a signal', () => expect(heuristicRisk([])).toBe(0));

  it.each([
    ['tor_exit', 85],
    ['dnsbl_drop', 95],
    ['dnsbl_pbl', 0],
    ['hosting', 25],
    ['proxy_or_vpn', 50],
  ] as const)('of %s alone is %d', (id, risk) => {
    expect(heuristicRisk([{ id, weight: RISK_WEIGHTS[id], source: 'test' }])).toBe(risk);
  });

  it('combines signals as one minus the product of their complements', () => {
    expect(heuristicRisk([signal(0.6), signal(0.7)])).toBe(88);
    expect(heuristicRisk([signal(0.25), signal(0.5), signal(0.85)])).toBe(94.38);
  });

  it('never exceeds 99', () => expect(heuristicRisk([signal(0.95), signal(0.95), signal(0.85)])).toBe(99));

  it('takes nine tenths of the abuse confidence', () => {
    expect(abuseWeight(100)).toBe(0.9);
    expect(abuseWeight(50)).toBe(0.45);
    expect(abuseWeight(0)).toBe(0);
    expect(abuseWeight(250)).toBe(0.9);
  });

  it('stays within 0 and 99 and never falls when a signal is added', () => {
    const weights = fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 8 });
    fc.assert(
      fc.property(weights, fc.double({ min: 0, max: 1, noNaN: true }), (before, added) => {
        const risk = heuristicRisk(before.map(signal));
        const more = heuristicRisk([...before, added].map(signal));
        return risk >= 0 && more <= 99 && more >= risk;
      }),
    );
  });
});

describe('static score of an address', () => {
  const base = { address: addressOf('8.8.8.8'), hostname: null, policyListed: false, hosting: false, cellular: false };

  it.each([
    ['no evidence', {}, 15],
    ['NAT as a word', { hostname: 'nat-7.example' }, 5],
    ['"nat" inside a word', { hostname: 'international.example' }, 15],
    ['hosting and a server name', { hosting: true, hostname: 'server.example' }, 95],
    ['a mobile network, whatever else', { cellular: true, hosting: true, hostname: 'static.example' }, 0.5],
    ['everything that says changing', { policyListed: true, hostname: '8-8-8-8.dyn.example' }, 0],
  ])('with %s', (_what, evidence, score) => {
    expect(heuristicStaticScore({ ...base, ...evidence })).toBe(score);
  });

  it('finds octets in any order and each only once', () => {
    expect(heuristicStaticScore({ ...base, address: addressOf('1.2.3.4'), hostname: '4-3-2-1.example' })).toBe(10);
    expect(heuristicStaticScore({ ...base, address: addressOf('1.1.3.4'), hostname: '1-3-4.example' })).toBe(15);
  });
});
