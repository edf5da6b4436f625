import { distanceKm } from '../../../services/workers/ranking/distance';
import { isInTile, tilesOf } from '../../../services/workers/ranking/tiles';
import { fc, propertyRuns } from '../../support/fast-check';

const degrees = (most: number) => fc.double({ min: -most, max: most, noNaN: true });
const area = fc.record({
  center: fc.record({ latitude: degrees(85), longitude: degrees(180) }),
  radiusKm: fc.double({ min: 0.1, max: 50, noNaN: true }),
});
const side = fc.integer({ min: 2, max: 5 });

/** A point of the circle, by its share of the radius and its bearing. */
function pointIn(
  { center, radiusKm }: { center: { latitude: number; longitude: number }; radiusKm: number },
  share: number,
  bearing: number,
) {
  const angle = (share * radiusKm) / 6371.0088;
  const [latitude, longitude, turn] = [center.latitude, center.longitude, bearing].map((each) => (each * Math.PI) / 180) as [
    number,
    number,
    number,
  ];
  const sine = Math.sin(latitude) * Math.cos(angle) + Math.cos(latitude) * Math.sin(angle) * Math.cos(turn);
  const away = Math.atan2(Math.sin(turn) * Math.sin(angle) * Math.cos(latitude), Math.cos(angle) - Math.sin(latitude) * sine);
  return { latitude: (Math.asin(sine) * 180) / Math.PI, longitude: ((((longitude + away) * 180) / Math.PI + 540) % 360) - 180 };
}

describe('the tiles of an area', () => {
  it('hold every point of the circle exactly once, over the antimeridian and far north too', () => {
    const share = fc.double({ min: 0, max: 0.999, noNaN: true });
    fc.assert(
      fc.property(area, side, share, fc.double({ min: 0, max: 360, noNaN: true }), (circle, many, part, bearing) => {
        const point = pointIn(circle, part, bearing);
        expect(tilesOf(circle, many).filter((tile) => isInTile(point, tile))).toHaveLength(1);
      }),
      { numRuns: propertyRuns(500) },
    );
  });

  it('share an edge without sharing a point, a rounding beside the antimeridian', () => {
    const circle = { center: { latitude: 0, longitude: -179.99998439084578 }, radiusKm: 0.1 };
    expect(tilesOf(circle, 2).filter((tile) => isInTile(pointIn(circle, 0, 0), tile))).toHaveLength(1);
  });

  it('are as many as were asked for, each within its own radius and the range of degrees', () => {
    fc.assert(
      fc.property(area, side, (circle, many) => {
        const tiles = tilesOf(circle, many);
        expect(tiles).toHaveLength(many * many);
        for (const { low, high, center, radiusKm } of tiles) {
          for (const corner of [low, high]) {
            expect(distanceKm(center, corner)).toBeLessThanOrEqual(radiusKm);
            expect(Math.abs(corner.longitude)).toBeLessThanOrEqual(180);
            expect(Math.abs(corner.latitude)).toBeLessThanOrEqual(90);
          }
        }
      }),
      { numRuns: propertyRuns(200) },
    );
  });
});
