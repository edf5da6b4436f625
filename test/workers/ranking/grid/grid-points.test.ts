import { distanceKm } from '../../../../services/workers/ranking/distance';
import { gridPoints, spacingKm } from '../../../../services/workers/ranking/grid/grid-points';

const BENGALURU = { latitude: 12.9716, longitude: 77.5946 };

describe('the points of a grid', () => {
  it.each([3, 5, 7])('of %i a side go row by row from the north west, with the middle in the middle', (size) => {
    const points = gridPoints({ center: BENGALURU, radiusKm: 5, size });
    expect(points.map(({ row, column }) => [row, column])).toEqual(
      Array.from({ length: size * size }, (_, index) => [Math.floor(index / size), index % size]),
    );
    const middle = points[(size * size - 1) / 2];
    expect(middle).toMatchObject({ center: BENGALURU, distanceKm: 0 });
    const [first] = points;
    expect(first?.center.latitude).toBeGreaterThan(BENGALURU.latitude);
    expect(first?.center.longitude).toBeLessThan(BENGALURU.longitude);
  });

  it.each([BENGALURU, { latitude: -33.87, longitude: 151.21 }, { latitude: 64.15, longitude: -21.94 }, { latitude: 0, longitude: 180 }])(
    'reach as far as the radius and lie evenly, at %j',
    (center) => {
      for (const radiusKm of [0.5, 5, 50]) {
        const points = gridPoints({ center, radiusKm, size: 5 });
        const at = (row: number, column: number) => points[row * 5 + column]?.center ?? center;
        const near = (km: number, wanted: number) => expect(Math.abs(km - wanted) / wanted).toBeLessThan(0.02);
        for (const [row, column] of [[0, 2], [4, 2], [2, 0], [2, 4]] as const) near(distanceKm(center, at(row, column)), radiusKm); // prettier-ignore
        for (const index of [0, 1, 2, 3]) {
          near(distanceKm(at(2, index), at(2, index + 1)), spacingKm({ radiusKm, size: 5 }));
          near(distanceKm(at(index, 2), at(index + 1, 2)), spacingKm({ radiusKm, size: 5 }));
        }
        near(points[0]?.distanceKm ?? 0, radiusKm * Math.SQRT2);
        for (const each of points) expect(Math.abs(each.center.longitude)).toBeLessThanOrEqual(180);
      }
    },
  );
});
