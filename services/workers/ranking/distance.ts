export interface Coordinates {
  /** In degrees; north is positive. */
  readonly latitude: number;
  /** In degrees; east is positive. */
  readonly longitude: number;
}

/** Mean radius of the Earth, IUGG. */
const EARTH_RADIUS_KM = 6371.0088;

/** Kilometres of one degree of latitude: 2 π · 6371.0088 km / 360. */
export const KM_A_DEGREE = 111.195;

function radians(degrees: number): number {
  return (degrees * Math.PI) / 180;
}

/** The same meridian, between −180 and 180 degrees. */
export function wrapLongitude(longitude: number): number {
  return ((((longitude + 180) % 360) + 360) % 360) - 180;
}

/** Great-circle distance in kilometres, by the haversine formula; within 0.6 % of the ellipsoid's. */
export function distanceKm(from: Coordinates, to: Coordinates): number {
  const byLatitude = Math.sin(radians(to.latitude - from.latitude) / 2) ** 2;
  const byLongitude = Math.sin(radians(to.longitude - from.longitude) / 2) ** 2;
  const cosines = Math.cos(radians(from.latitude)) * Math.cos(radians(to.latitude));
  return 2 * EARTH_RADIUS_KM * Math.asin(Math.min(1, Math.sqrt(byLatitude + cosines * byLongitude)));
}
