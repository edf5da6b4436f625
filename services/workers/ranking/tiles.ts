import { type Coordinates, distanceKm, KM_A_DEGREE, wrapLongitude } from './distance';
import { type PlaceQuery } from './ranking-upstream';

/** A part of an area. It includes its south and west edges; the other edges belong to its neighbours. */
export interface Tile {
  /** In degrees. In a tile across the antimeridian, the western longitude is the larger one. */
  readonly low: Coordinates;
  readonly high: Coordinates;
  readonly center: Coordinates;
  /** Distance from the centre to the corners, rounded up to the metre. */
  readonly radiusKm: number;
}

/** Half of the allowed width of a rectangle, so that it has two edges. */
const WIDEST_DEGREES = 179;

function spread(tile: Pick<Tile, 'low' | 'high' | 'center'>): number {
  const corners = [tile.low, tile.high, { ...tile.low, longitude: tile.high.longitude }, { ...tile.high, longitude: tile.low.longitude }];
  return Math.ceil(Math.max(...corners.map((corner) => distanceKm(tile.center, corner))) * 1_000) / 1_000;
}

type Area = NonNullable<PlaceQuery['bias']>;

/**
 * Splits the square around a circle into `side` × `side` tiles, from the south west, row by row. They cover the circle and share no point.
 * With up to five tiles a side, the circle reaches each of them.
 */
export function tilesOf({ center, radiusKm }: Area, side: number): Tile[] {
  const halfHeight = radiusKm / KM_A_DEGREE;
  // A degree of longitude is shortest where the circle is nearest to a pole.
  const steepest = Math.min(89.9, Math.abs(center.latitude) + halfHeight);
  const halfWidth = Math.min(WIDEST_DEGREES, halfHeight / Math.cos((steepest * Math.PI) / 180));
  const edge = (from: number, half: number, index: number): number => from - half + (2 * half * index) / side;
  const latitudeAt = (index: number): number => Math.max(-90, Math.min(90, edge(center.latitude, halfHeight, index)));
  return Array.from({ length: side * side }, (_, index): Tile => {
    const [row, column] = [Math.floor(index / side), index % side];
    const [south, north] = [latitudeAt(row), latitudeAt(row + 1)];
    const [west, east] = [edge(center.longitude, halfWidth, column), edge(center.longitude, halfWidth, column + 1)];
    const tile = {
      low: { latitude: south, longitude: wrapLongitude(west) },
      high: { latitude: north, longitude: wrapLongitude(east) },
      center: { latitude: (south + north) / 2, longitude: wrapLongitude((west + east) / 2) },
    };
    return { ...tile, radiusKm: spread(tile) };
  });
}

export function isInTile({ latitude, longitude }: Coordinates, { low, high }: Tile): boolean {
  // At the pole, the northernmost tile has no neighbour that its edge could belong to.
  if (latitude < low.latitude || (latitude >= high.latitude && high.latitude < 90)) return false;
  // Compares the numbers directly: neighbours share exactly the numbers of their edge, and a difference could round them apart.
  const [eastOfLow, westOfHigh] = [longitude >= low.longitude, longitude < high.longitude];
  return low.longitude < high.longitude ? eastOfLow && westOfHigh : eastOfLow || westOfHigh;
}
