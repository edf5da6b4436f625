/** A place with a postal code, from GeoNames. zippopotam.us serves the same data. */
export interface WorldPlace {
  readonly country: string;
  readonly countryName: string;
  readonly code: string;
  readonly place: string;
  readonly state: string;
  readonly stateCode: string;
  readonly latitude: number;
  readonly longitude: number;
}

type Row = readonly [country: string, code: string, place: string, state: string, stateCode: string, latitude: number, longitude: number];

const ROWS: readonly Row[] = [
  ['US', '90210', 'Beverly Hills', 'California', 'CA', 34.0901, -118.4065],
  ['US', '10001', 'New York City', 'New York', 'NY', 40.7484, -73.9967],
  ['US', '60601', 'Chicago', 'Illinois', 'IL', 41.8858, -87.6181],
  ['GB', 'SW1A', 'London', 'England', 'ENG', 51.5, -0.1333],
  ['GB', 'M1', 'Manchester', 'England', 'ENG', 53.4809, -2.2374],
  ['CA', 'K1A', 'Ottawa (Government of Canada and National Capital Region offices)', 'Ontario', 'ON', 45.4207, -75.7023],
  ['CA', 'M5V', 'Downtown Toronto (CN Tower / King and Spadina / Harbourfront West)', 'Ontario', 'ON', 43.6404, -79.3995],
  ['DE', '10115', 'Berlin', 'Berlin', 'BE', 52.5323, 13.3846],
  ['DE', '01067', 'Dresden', 'Sachsen', 'SN', 51.058, 13.7207],
  ['FR', '75001', 'Paris 01 Louvre', 'Île-de-France', 'A8', 48.8592, 2.3417],
  ['AU', '2000', 'Sydney', 'New South Wales', 'NSW', -33.8697, 151.2099],
  ['AU', '2000', 'Barangaroo', 'New South Wales', 'NSW', -33.8606, 151.2018],
  ['JP', '100-0001', 'Chiyoda', 'Toukyouto', '13', 35.6848, 139.7514],
  ['NL', '1012', 'Amsterdam', 'Noord-Holland', '07', 52.3731, 4.8922],
  ['BR', '01000-000', 'São Paulo', 'Sao Paulo', '27', -23.5475, -46.6361],
  ['IE', 'D02', 'Dublin 2', 'Leinster', 'L', 53.3384, -6.2502],
  ['MT', 'VLT', 'Il-Belt Valletta', '', '', 35.8997, 14.5148],
  ['AR', 'C1002', 'Ciudad Autónoma de Buenos Aires', 'Ciudad Autónoma de Buenos Aires', 'C', -34.6021, -58.3845],
  // Not a real PIN of India: the sandbox's provider for India fails for it, and this provider has it.
  ['IN', '999512', 'Sandbox Nagar', 'Karnataka', 'KA', 12.9716, 77.5946],
  ['CH', '8001', 'Zürich', 'Kanton Zürich', 'ZH', 47.3667, 8.55],
];

const names = new Intl.DisplayNames(['en'], { type: 'region' });

const WORLD_PLACES: readonly WorldPlace[] = ROWS.map(([country, code, place, state, stateCode, latitude, longitude]) => ({
  country,
  countryName: names.of(country) ?? country,
  code,
  place,
  state,
  stateCode,
  latitude,
  longitude,
}));

/** Finds places with this code. Case does not matter in country and code. */
export function findWorldPlaces(country: string, code: string): readonly WorldPlace[] {
  return WORLD_PLACES.filter((each) => each.country === country.toUpperCase() && each.code.toLowerCase() === code.trim().toLowerCase());
}

/** Codes that stand for outcomes, in any country whose code is sent whole. No postal service uses them. */
export const MAGIC_CODES = {
  missing: '00404',
  overQuota: '00429',
  notJson: '00500',
  down: '00502',
  closed: '00503',
  silent: '00504',
} as const;
