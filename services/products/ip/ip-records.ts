/**
 * Reads records of MMDB files. Their shapes depend on the maker: MaxMind nests (`country.iso_code`, `city.names.en`), DB-IP as packaged by
 * ip-location-db is flat (`country_code`, `city`). Anything absent or of another type reads as unknown.
 */

import { type AsnFacts } from './asn-table';

/** The place of an address. Empty text and null mean unknown. */
export interface PlaceFacts {
  /** ISO 3166-1 alpha-2. */
  readonly country: string;
  readonly countryName: string | null;
  readonly city: string;
  /** The part of the city; null if the source has none. */
  readonly district: string | null;
  readonly region: string | null;
  readonly postalCode: string | null;
  readonly latitude: number | null;
  readonly longitude: number | null;
  readonly accuracyRadiusKm: number | null;
  /** IANA name. */
  readonly timeZone: string | null;
  /** The network is a mobile carrier's (MaxMind `traits.connection_type` or `user_type`). */
  readonly cellular: boolean;
}

export const UNKNOWN_PLACE: PlaceFacts = {
  country: '',
  countryName: null,
  city: '',
  district: null,
  region: null,
  postalCode: null,
  latitude: null,
  longitude: null,
  accuracyRadiusKm: null,
  timeZone: null,
  cellular: false,
};

/** Facts about an address in MaxMind's Anonymous-IP and IP-Risk files. */
export interface AnonymityFacts {
  readonly torExit: boolean;
  readonly hosting: boolean;
  /** A public proxy or an anonymous VPN. */
  readonly proxyOrVpn: boolean;
}

type Json = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function at(record: unknown, ...path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (isObject(value) ? value[name] : undefined), record);
}

/** The text at this path of a record; null if there is none. */
export function textAt(record: unknown, ...path: readonly string[]): string | null {
  const value = at(record, ...path);
  return typeof value === 'string' && value !== '' ? value : null;
}

function numberAt(record: unknown, ...path: readonly string[]): number | null {
  const value = at(record, ...path);
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Coordinates are rounded to four decimals, 11 m: the files store 32-bit floats, whose further digits are noise. */
function coordinateAt(record: unknown, ...path: readonly string[]): number | null {
  const value = numberAt(record, ...path);
  return value === null ? null : Math.round(value * 10_000) / 10_000;
}

const countryNames = new Intl.DisplayNames(['en'], { type: 'region', fallback: 'none' });

/** Names by code, at most 676: asking Intl takes a tenth of a look-up. */
const knownNames = new Map<string, string | null>();

function countryNameOf(code: string): string | null {
  if (!/^[A-Z]{2}$/.test(code)) return null;
  const known = knownNames.get(code);
  if (known !== undefined) return known;
  const name = countryNames.of(code) ?? null;
  knownNames.set(code, name);
  return name;
}

/** DB-IP writes the district after the city, as in `Seoul (Toegye-ro)`. */
const CITY_WITH_DISTRICT = /^(.+?) \(([^()]+)\)$/;

function cityAndDistrict(text: string): Pick<PlaceFacts, 'city' | 'district'> {
  const [, city = text, district = null] = CITY_WITH_DISTRICT.exec(text) ?? [];
  return { city, district };
}

function readNestedPlace(record: Json): PlaceFacts {
  const country = textAt(record, 'country', 'iso_code') ?? '';
  const subdivisions = record['subdivisions'];
  return {
    country,
    countryName: textAt(record, 'country', 'names', 'en') ?? countryNameOf(country),
    ...cityAndDistrict(textAt(record, 'city', 'names', 'en') ?? ''),
    region: Array.isArray(subdivisions) ? textAt(subdivisions[0], 'names', 'en') : null,
    postalCode: textAt(record, 'postal', 'code'),
    latitude: coordinateAt(record, 'location', 'latitude'),
    longitude: coordinateAt(record, 'location', 'longitude'),
    accuracyRadiusKm: numberAt(record, 'location', 'accuracy_radius'),
    timeZone: textAt(record, 'location', 'time_zone'),
    cellular: textAt(record, 'traits', 'connection_type') === 'Cellular' || textAt(record, 'traits', 'user_type') === 'cellular',
  };
}

function readFlatPlace(record: Json): PlaceFacts {
  const country = textAt(record, 'country_code') ?? '';
  return {
    country,
    countryName: countryNameOf(country),
    ...cityAndDistrict(textAt(record, 'city') ?? ''),
    region: textAt(record, 'state1'),
    postalCode: textAt(record, 'postcode'),
    latitude: coordinateAt(record, 'latitude'),
    longitude: coordinateAt(record, 'longitude'),
    accuracyRadiusKm: null,
    timeZone: textAt(record, 'timezone'),
    cellular: false,
  };
}

/** Reads a city or country record of either shape; undefined if there is none. */
export function readPlace(record: unknown): PlaceFacts | undefined {
  if (!isObject(record)) return undefined;
  return 'country_code' in record ? readFlatPlace(record) : readNestedPlace(record);
}

/** Reads a GeoLite2-ASN or GeoIP2-ISP record. */
export function readAsn(record: unknown): Omit<AsnFacts, 'network'> | undefined {
  const number = numberAt(record, 'autonomous_system_number');
  return number === null ? undefined : { number, organisation: textAt(record, 'autonomous_system_organization') ?? '' };
}

export function readAnonymity(record: unknown): AnonymityFacts {
  return {
    torExit: at(record, 'is_tor_exit_node') === true,
    hosting: at(record, 'is_hosting_provider') === true,
    proxyOrVpn: at(record, 'is_public_proxy') === true || at(record, 'is_anonymous_vpn') === true,
  };
}

/** `ip_risk` of an IP-Risk record, 0.01 to 99. MaxMind omits it when there is no risk signal. */
export function readIpRisk(record: unknown): number {
  return numberAt(record, 'ip_risk') ?? 0;
}

/** `score` of a Static-IP-Score record, 0 to 99.99. */
export function readStaticScore(record: unknown): number | undefined {
  return numberAt(record, 'score') ?? undefined;
}
