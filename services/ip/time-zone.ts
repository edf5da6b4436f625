import tzLookup from '@photostructure/tz-lookup';

/** The IANA time zone of a point, by the map that the package holds; null for coordinates that are none. */
export function timeZoneAt(latitude: number, longitude: number): string | null {
  if (Math.abs(latitude) > 90 || Math.abs(longitude) > 180) return null;
  return tzLookup(latitude, longitude);
}
