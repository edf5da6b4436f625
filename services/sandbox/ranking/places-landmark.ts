import {
  DEFAULT_POINT,
  KM_A_DEGREE,
  MAGIC_KEYWORDS,
  magicIn,
  SANDBOX_BUSINESSES,
  type SandboxBusiness,
  type SandboxPoint,
} from './places-businesses';

/** The one business with a fixed place. It ranks first near its door, and loses ranks with distance. */
export const LANDMARK = { id: 'ChIJsandbox0100', name: 'Sandbox Landmark' } as const;
/** Ranks that it loses per kilometre. */
const RANKS_A_KM = 3;
/** Kilometres from the landmark beyond which the keyword of a partly failing grid fails. */
const REACH_KM = 4;

/** True for keywords whose response is a list. */
export function isOfGrids(magic: string): boolean {
  return magic === MAGIC_KEYWORDS.grid || magic === MAGIC_KEYWORDS.partialGrid;
}

/** The distance from a point to the landmark. */
function wayFrom({ latitude, longitude }: SandboxPoint): { northKm: number; eastKm: number; km: number } {
  const northKm = (DEFAULT_POINT.latitude - latitude) * KM_A_DEGREE;
  const eastKm = (DEFAULT_POINT.longitude - longitude) * KM_A_DEGREE * Math.cos((DEFAULT_POINT.latitude * Math.PI) / 180);
  return { northKm, eastKm, km: Math.hypot(northKm, eastKm) };
}

/** True when a keyword fails at this point but not everywhere. */
export function failsAt(keyword: string, point: SandboxPoint): boolean {
  return magicIn(keyword) === MAGIC_KEYWORDS.partialGrid && wayFrom(point).km > REACH_KM;
}

/**
 * The ranking of both simulators at a point: the same at every point, except for the keywords of grids, which rank the landmark by its
 * distance.
 */
export function businessesAt(keyword: string, point: SandboxPoint): readonly SandboxBusiness[] {
  const magic = magicIn(keyword);
  if (magic === MAGIC_KEYWORDS.empty) return [];
  if (magic === undefined || !isOfGrids(magic)) return SANDBOX_BUSINESSES;
  const { northKm, eastKm, km } = wayFrom(point);
  const above = Math.round(km * RANKS_A_KM);
  const landmark: SandboxBusiness = {
    ...LANDMARK,
    northKm,
    eastKm,
    rating: 4.6,
    reviews: 1_300,
    phone: '5550 1100',
    website: undefined,
    status: 'OPERATIONAL',
  };
  return [...SANDBOX_BUSINESSES.slice(0, above), landmark, ...SANDBOX_BUSINESSES.slice(above)];
}
