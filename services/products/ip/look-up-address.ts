import tzLookup from '@photostructure/tz-lookup';
import { countries, type TCountryCode } from 'countries-list';
import { formatIpAddress, type IpAddress } from '../../../plugins/core/access/ip-address';
import { type KeyMode } from '../../../plugins/core/ports';
import { type AddressClass, classifyAddress } from '../../kit/upstream/reserved-addresses';
import { sourceName } from '../../kit/upstream/source-name';
import { type AsnFacts } from './asn-table';
import { asTypeOf, type AsType, isHostingNetwork } from './as-type';
import { type FlagReason, type IpAnswer } from './ip-answer';
import { type IpDatabases } from './ip-databases';
import { type AddressLists } from './lists/address-lists';
import { type PlaceFacts, UNKNOWN_PLACE } from './ip-records';
import { type FindNetworkFacts, type NetworkFacts, type SourceCheck } from './network-facts';
import { abuseWeight, RISK_WEIGHTS, type RiskSignal, judgeScores } from './scores';

export interface LookUpDeps {
  readonly databases: IpDatabases;
  /** Absent if no folder of lists is configured. */
  readonly lists?: AddressLists | undefined;
  readonly findNetworkFacts: FindNetworkFacts;
  /** Mode of the key. The sandbox's findings about an address are marked as such. The files on disk are true in either mode. */
  readonly mode: KeyMode;
  /** Unix milliseconds, to judge the age of lists. */
  readonly now: () => number;
}

const NO_NETWORK_FACTS: NetworkFacts = { checked: [], hostname: null, listings: [], abuse: undefined };

/** The time zone of the city's coordinates, if the file names none. Correct except within a few kilometres of a border. */
function timeZoneOf({ timeZone, latitude, longitude }: PlaceFacts): string | null {
  if (timeZone !== null || latitude === null || longitude === null) return timeZone;
  return timeZoneAt(latitude, longitude);
}

function locationOf(place: PlaceFacts | undefined): IpAnswer['location'] {
  if (!place) return {};
  const location = {
    latitude: place.latitude,
    longitude: place.longitude,
    accuracy_radius_km: place.accuracyRadiusKm,
    time_zone: timeZoneOf(place),
    district: place.district,
    region: place.region,
    postal_code: place.postalCode,
    country_name: place.countryName,
  };
  return Object.values(location).every((value) => value === null) ? {} : location;
}

/** Every reason to distrust the address, each once: the first source that names it is reported. */
function collectSignals(
  address: IpAddress,
  { asn, facts, databases, lists, mode }: { asn: number | undefined; facts: NetworkFacts } & Omit<LookUpDeps, 'findNetworkFacts' | 'now'>,
): RiskSignal[] {
  const signals = new Map<RiskSignal['id'], RiskSignal>();
  const add = (id: Exclude<RiskSignal['id'], 'abuse_reports'>, source: string): void => {
    if (!signals.has(id)) signals.set(id, { id, weight: RISK_WEIGHTS[id], source });
  };
  for (const { source, facts: anonymity } of databases.findAnonymity(address)) {
    if (anonymity.torExit) add('tor_exit', source);
    if (anonymity.proxyOrVpn) add('proxy_or_vpn', source);
    if (anonymity.hosting) add('hosting', source);
  }
  for (const { says, source } of lists?.find(address) ?? []) if (says !== 'anycast') add(says, source);
  if (asn !== undefined && isHostingNetwork(asn)) add('hosting', 'asn_list');
  for (const listing of facts.listings) add(listing, sourceName('dnsbl', mode));
  if (facts.abuse?.torExit) add('tor_exit', sourceName('abuseipdb', mode));
  if (facts.abuse && facts.abuse.confidence > 0) {
    signals.set('abuse_reports', {
      id: 'abuse_reports',
      weight: abuseWeight(facts.abuse.confidence),
      source: sourceName('abuseipdb', mode),
    });
  }
  return [...signals.values()];
}

interface FlagEvidence {
  readonly isReserved: boolean;
  readonly signals: readonly RiskSignal[];
  readonly hasAnonymity: boolean;
  /** Whether any source of Tor exits other than the files has responded. */
  readonly knowsTor: boolean;
  readonly lists: AddressLists | undefined;
}

/** Why a flag is null for an address that no source has named. */
function whyUnknown(flag: keyof IpAnswer['flags'], { isReserved, lists }: FlagEvidence): FlagReason {
  if (isReserved) return 'reserved_address';
  // The shipped list of hosting networks is short.
  return flag === 'hosting' || lists?.has(flag) ? 'unknown_to_source' : 'not_configured';
}

/**
 * True if a source says so; false if a source that would know does not; null if no such source was asked. The short list of hosting
 * networks knows only the networks on it.
 */
function flagsOf(evidence: FlagEvidence): Pick<IpAnswer, 'flags' | 'flag_reasons'> {
  const { signals, hasAnonymity, knowsTor } = evidence;
  const flag = (id: RiskSignal['id'], isKnown: boolean): boolean | null =>
    signals.some((each) => each.id === id) || (isKnown ? false : null);
  const flags = {
    hosting: flag('hosting', hasAnonymity),
    proxy_or_vpn: flag('proxy_or_vpn', hasAnonymity),
    tor_exit: flag('tor_exit', hasAnonymity || knowsTor),
    relay: flag('relay', false),
  };
  const why = (name: keyof typeof flags): FlagReason | null => (flags[name] === null ? whyUnknown(name, evidence) : null);
  return {
    flags,
    flag_reasons: { hosting: why('hosting'), proxy_or_vpn: why('proxy_or_vpn'), tor_exit: why('tor_exit'), relay: why('relay') },
  };
}

/** The registries' entry for an address that was parsed before. */
function classify(address: IpAddress): AddressClass {
  const found = classifyAddress(address.text);
  if (!found) throw new Error('a parsed address could not be read back');
  return found;
}

function fileChecks({ databases, lists }: Pick<LookUpDeps, 'databases' | 'lists'>): SourceCheck[] {
  return [...databases.describe(), ...(lists?.describe() ?? [])].map(({ source, builtAt }) => ({
    source,
    as_of: builtAt?.toISOString() ?? null,
    ok: true,
  }));
}

function registrationView({ registration }: NetworkFacts): IpAnswer['registration'] {
  if (!registration) return null;
  const { company, networkName, abuseEmail, abusePhone } = registration;
  return { company, network_name: networkName, abuse_email: abuseEmail, abuse_phone: abusePhone };
}

/** True if a list says so, false if a complete one does not, null without one. */
function isAnycast(address: IpAddress, { lists, now }: Pick<LookUpDeps, 'lists' | 'now'>): boolean | null {
  if (lists?.find(address).some(({ says }) => says === 'anycast')) return true;
  return lists?.knowsAll('anycast', now()) ? false : null;
}

/** The databases' facts about the organisation that runs the address's network. */
function networkView(asn: AsnFacts | undefined): Pick<IpAnswer, 'as_org' | 'network'> & AsType {
  if (!asn) return { as_org: '', as_type: null, as_type_source: null, network: null };
  return { as_org: asn.organisation, ...asTypeOf(asn), network: asn.network };
}

/** The findings of files and third parties about an address that is not reserved. */
async function askSources(address: IpAddress, deps: LookUpDeps) {
  const { databases, lists, mode, now } = deps;
  const facts = await deps.findNetworkFacts(address);
  const asn = databases.findAsn(address);
  const anycast = isAnycast(address, deps);
  const found = databases.findPlace(address);
  return {
    facts,
    asn,
    anycast,
    // Many places at once mean no place. The country is that in which the block is registered.
    place: found && anycast ? { ...UNKNOWN_PLACE, country: found.country, countryName: found.countryName } : found,
    signals: collectSignals(address, { asn: asn?.number, facts, databases, lists, mode }),
    hasAnonymity: databases.findAnonymity(address).length > 0,
    knowsTor: facts.checked.some(({ source, ok }) => source === 'abuseipdb' && ok) || lists?.knowsAll('tor_exit', now()) === true,
    published: { risk: databases.findIpRisk(address), staticScore: databases.findStaticScore(address) },
    checked: [...fileChecks(deps), ...facts.checked.map((each) => ({ ...each, source: sourceName(each.source, mode) }))],
  };
}

type Findings = Awaited<ReturnType<typeof askSources>>;

/** Findings for a reserved address: no file knows anything true about it, and no third party may learn it. */
const NO_FINDINGS: Findings = {
  facts: NO_NETWORK_FACTS,
  asn: undefined,
  anycast: null,
  place: undefined,
  signals: [],
  hasAnonymity: false,
  knowsTor: false,
  published: { risk: undefined, staticScore: undefined },
  checked: [],
};

/**
 * Everything known about an address. A NAT64 or 6to4 address is looked up as the IPv4 address in it, where its packets go or come from. The
 * registry of special addresses lists the whole block of 6to4, so those stay `is_reserved`.
 */
export async function lookUpAddress(address: IpAddress, deps: LookUpDeps): Promise<IpAnswer> {
  const { isPrivate, isReserved: isListed, isLoopback } = classify(address);
  const embedded = embeddedAddress(address);
  const target = embedded?.address ?? address;
  const { isReserved } = embedded ? classify(target) : { isReserved: isListed };
  const { facts, asn, anycast, place, signals, hasAnonymity, knowsTor, published, checked } = isReserved
    ? NO_FINDINGS
    : await askSources(target, deps);
  const { hostname } = facts;
  const { ip_risk, static_ip_score, ...scoring } = judgeScores({
    address: target,
    isReserved,
    signals,
    checked: facts.checked,
    isAnnounced: asn !== undefined,
    hasAnonymity,
    hostname,
    cellular: place?.cellular ?? false,
    published,
  });
  return {
    ip: address.text,
    is_valid: true,
    version: address.version,
    is_private: isPrivate,
    is_reserved: isListed,
    is_loopback: isLoopback,
    hostname,
    country: place?.country ?? '',
    location: locationOf(place),
    city: place?.city ?? '',
    asn: asn ? `AS${asn.number}` : '',
    ip_risk,
    static_ip_score,
    ...networkView(asn),
    is_bogon: isReserved || asn === undefined,
    is_anycast: anycast,
    embedded_ipv4: embedded ? { ip: embedded.address.text, by: embedded.by } : null,
    country_facts: countryFacts(place?.country ?? ''),
    ...flagsOf({ isReserved, signals, hasAnonymity, knowsTor, lists: deps.lists }),
    registration: registrationView(facts),
    risk_signals: signals,
    ...scoring,
    checked,
  };
}

/** The IANA time zone of a point, or null for coordinates outside the globe. */
function timeZoneAt(latitude: number, longitude: number): string | null {
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return null;
  return tzLookup(latitude, longitude);
}

/** Members of the European Union since 2020-02-01, by ISO 3166-1 (Greece is GR there): https://european-union.europa.eu/principles-countries-history/eu-countries_en. */
const EU_MEMBERS: ReadonlySet<string> = new Set(
  'AT BE BG CY CZ DE DK EE ES FI FR GR HR HU IE IT LT LU LV MT NL PL PT RO SE SI SK'.split(' '),
);

function isCode(code: string): code is TCountryCode {
  return Object.hasOwn(countries, code);
}

/** Facts that follow from a country's ISO 3166-1 alpha-2 code alone. Null for a code that is not in use. */
function countryFacts(code: string): IpAnswer['country_facts'] {
  if (!isCode(code)) return null;
  const { continent, currency, phone } = countries[code];
  return {
    continent,
    currency: currency[0] ?? null,
    calling_code: phone[0] === undefined ? null : `+${phone[0]}`,
    is_eu: EU_MEMBERS.has(code),
  };
}

/** An IPv4 address inside an IPv6 address. */
interface EmbeddedAddress {
  readonly address: IpAddress;
  /** `nat64`: 64:ff9b::/96 (RFC 6052), the last 32 bits. `6to4`: 2002::/16 (RFC 3056), the 32 bits after the prefix. */
  readonly by: 'nat64' | '6to4';
}

const NAT64_PREFIX = 0x0064_ff9bn << 64n;
const SIX_TO_FOUR_PREFIX = 0x2002n;
const IPV4_MASK = 0xffff_ffffn;

function ipv4Of(value: bigint): IpAddress {
  return { version: 4, bits: 32, value, text: formatIpAddress(value, 32) };
}

/** Undefined for an address without one. */
function embeddedAddress({ version, value }: IpAddress): EmbeddedAddress | undefined {
  if (version === 4) return undefined;
  if (value >> 32n === NAT64_PREFIX) return { address: ipv4Of(value & IPV4_MASK), by: 'nat64' };
  if (value >> 112n === SIX_TO_FOUR_PREFIX) return { address: ipv4Of((value >> 80n) & IPV4_MASK), by: '6to4' };
  return undefined;
}
