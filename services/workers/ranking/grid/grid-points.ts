import { type Coordinates, distanceKm, KM_A_DEGREE, wrapLongitude } from '../distance';

/** One point of a grid, counted from its north-west corner. */
export interface GridPoint {
  /** From 0, north to south. */
  readonly row: number;
  /** From 0, west to east. */
  readonly column: number;
  readonly center: Coordinates;
  /** Distance from the middle of the grid, to the metre. */
  readonly distanceKm: number;
}

export interface GridArea {
  readonly center: Coordinates;
  /** Distance from the middle to the outermost rows and columns. The corners are √2 times as far. */
  readonly radiusKm: number;
  /** Points a side. It is odd, so that one point is in the middle. */
  readonly size: number;
}

/** A tenth of a metre, in degrees. */
const DEGREE_STEPS = 1e6;
const METRES = 1_000;

function rounded(value: number, steps: number): number {
  return Math.round(value * steps) / steps;
}

/** Kilometres between two neighbours in a row or a column, to the metre. */
export function spacingKm({ radiusKm, size }: Pick<GridArea, 'radiusKm' | 'size'>): number {
  return rounded((2 * radiusKm) / (size - 1), METRES);
}

/**
 * The points of a square grid, row by row from the north west. The length of a degree of longitude is taken from the middle: at 60° and a
 * radius of 50 km the northernmost row is 1.4 % narrower than stated. It is meant for latitudes up to 85°.
 */
export function gridPoints({ center, radiusKm, size }: GridArea): GridPoint[] {
  const halfHeight = radiusKm / KM_A_DEGREE;
  const halfWidth = halfHeight / Math.cos((center.latitude * Math.PI) / 180);
  // From −1 at the first to 1 at the last; exactly 0 in the middle.
  const along = (index: number): number => (2 * index) / (size - 1) - 1;
  return Array.from({ length: size * size }, (_, index): GridPoint => {
    const [row, column] = [Math.floor(index / size), index % size];
    const point = {
      latitude: rounded(center.latitude - halfHeight * along(row), DEGREE_STEPS),
      longitude: rounded(wrapLongitude(center.longitude + halfWidth * along(column)), DEGREE_STEPS),
    };
    return { row, column, center: point, distanceKm: rounded(distanceKm(center, point), METRES) };
  });
}
