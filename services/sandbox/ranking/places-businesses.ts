/** A business of the sandbox, placed relative to the point of the query. */
export interface SandboxBusiness {
  readonly id: string;
  readonly name: string;
  readonly northKm: number;
  readonly eastKm: number;
  readonly rating: number | undefined;
  readonly reviews: number | undefined;
  /** The last digits of its telephone number. */
  readonly phone: string | undefined;
  readonly website: string | undefined;
  readonly status: 'OPERATIONAL' | 'CLOSED_TEMPORARILY';
}

/** Keywords that cause an outcome, whatever the other parameters are. */
export const MAGIC_KEYWORDS = {
  upstreamError: 'sandbox-upstream-error',
  timeout: 'sandbox-timeout',
  closed: 'sandbox-closed',
  notJson: 'sandbox-bad-response',
  overQuota: 'sandbox-over-quota',
  refused: 'sandbox-refused',
  empty: 'sandbox-no-results',
  grid: 'sandbox-grid',
  partialGrid: 'sandbox-grid-partial',
} as const;

/** The magic keyword at the start of a text. Leads append a location to it. */
export function magicIn(text: string): string | undefined {
  return Object.values(MAGIC_KEYWORDS).find((keyword) => text === keyword || text.startsWith(`${keyword} `));
}

const FIRST_NAMES = [
  'Lotus', 'Orchid', 'Banyan', 'Saffron', 'Coral', 'Silver', 'Monsoon', 'Jasmine',
  'Peacock', 'Tamarind', 'Sunrise', 'Marigold', 'Cedar', 'Neem', 'Harbour',
]; // prettier-ignore
/** Names that fit any trade, because these businesses match every keyword. */
const KINDS = ['Clinic', 'Centre', 'House'];

/** Names for testing matches, by rank: a company suffix, twins, near-twins, another script, and one on the last page. */
const SPECIAL_NAMES: Readonly<Record<number, string>> = {
  3: 'Orchid Dental Care Pvt. Ltd.',
  7: 'Peña Señorita',
  12: 'Twin Lakes Care',
  16: 'श्री गणेश सेवा केंद्र',
  18: 'Shree Sai Krishna Family Services And Care',
  19: 'Twin Lakes Care',
  24: 'New Bharat Care Service Point',
  25: 'Shree Sai Krishna Family Services And Aid',
  41: "McArthur's Harbour View",
};

const COUNT = 45;

function businessAt(rank: number): SandboxBusiness {
  const index = rank - 1;
  const kind = KINDS[Math.floor(index / FIRST_NAMES.length)] ?? '';
  const slug = `business-${String(rank).padStart(2, '0')}`;
  // Every ninth business lies outside the default radius of five kilometres.
  const awayKm = rank % 9 === 0 ? 8 : 0.4 + (index % 10) * 0.4;
  const bearing = (index * 137.5 * Math.PI) / 180;
  return {
    id: `ChIJsandbox${String(rank).padStart(4, '0')}`,
    name: SPECIAL_NAMES[rank] ?? `${FIRST_NAMES[index % FIRST_NAMES.length] ?? ''} ${kind}`,
    northKm: awayKm * Math.cos(bearing),
    eastKm: awayKm * Math.sin(bearing),
    rating: rank % 11 === 0 ? undefined : 3 + ((rank * 7) % 20) / 10,
    reviews: rank % 11 === 0 ? undefined : rank * 13,
    phone: rank % 5 === 0 ? undefined : `5550 ${String(1_000 + rank)}`,
    website: rank % 4 === 0 ? undefined : `https://www.${slug}.example.com/`,
    status: rank % 20 === 0 ? 'CLOSED_TEMPORARILY' : 'OPERATIONAL',
  };
}

/** Businesses in the order in which both simulators rank them, for every keyword and every place. */
export const SANDBOX_BUSINESSES: readonly SandboxBusiness[] = Array.from({ length: COUNT }, (_, index) => businessAt(index + 1));

/** The kind of business: the keyword without the place that leads append. */
export function typeFor(keyword: string): string {
  const words = keyword
    .replace(/ in .*$/, '')
    .toLowerCase()
    .match(/[\p{L}\p{N}]+/gu);
  return words?.join('_').slice(0, 50) ?? 'establishment';
}

export interface SandboxPoint {
  readonly latitude: number;
  readonly longitude: number;
}

/** Bengaluru, for queries without a place. */
export const DEFAULT_POINT: SandboxPoint = { latitude: 12.9716, longitude: 77.5946 };

export const KM_A_DEGREE = 111.195;

function rounded(degrees: number): number {
  return Math.round(degrees * 1e7) / 1e7;
}

/** Position of a business as seen from a point. Exact enough near the point, and on the globe everywhere. */
export function locate({ northKm, eastKm }: SandboxBusiness, from: SandboxPoint): SandboxPoint {
  const latitude = Math.max(-90, Math.min(90, from.latitude + northKm / KM_A_DEGREE));
  const kmADegree = KM_A_DEGREE * Math.cos((latitude * Math.PI) / 180);
  const east = from.longitude + (kmADegree > 1 ? eastKm / kmADegree : 0);
  return { latitude: rounded(latitude), longitude: rounded(((east + 540) % 360) - 180) };
}

/** Degrees around the centre that belong to Bengaluru. */
const CITY_DEGREES = 0.5;

export interface BusinessAddress {
  readonly area: string;
  readonly phonePrefix: string;
  readonly countryCode: string;
  /** Google's types, with long and short text. */
  readonly parts: readonly (readonly [type: string, long: string, short: string])[];
}

const BENGALURU: BusinessAddress = {
  area: 'Sample Nagar, Bengaluru, Karnataka 560001, India',
  phonePrefix: '080 ',
  countryCode: '+91 80 ',
  parts: [
    ['locality', 'Bengaluru', 'Bengaluru'],
    ['administrative_area_level_1', 'Karnataka', 'KA'],
    ['country', 'India', 'IN'],
    ['postal_code', '560001', '560001'],
  ],
};

/** +999 is not a country code. */
const ELSEWHERE: BusinessAddress = {
  area: 'Sample Town',
  phonePrefix: '',
  countryCode: '+999 ',
  parts: [['locality', 'Sample Town', 'Sample Town']],
};

/**
 * The address of a point: in the one city of the sandbox, or in a town without a country, so that no address contradicts its coordinates.
 */
export function addressAt({ latitude, longitude }: SandboxPoint): BusinessAddress {
  const away = Math.max(Math.abs(latitude - DEFAULT_POINT.latitude), Math.abs(longitude - DEFAULT_POINT.longitude));
  return away <= CITY_DEGREES ? BENGALURU : ELSEWHERE;
}
