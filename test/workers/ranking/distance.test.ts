import { type Coordinates, distanceKm } from '../../../services/workers/ranking/distance';
import { fc } from '../../support/fast-check';

const point: fc.Arbitrary<Coordinates> = fc.record({
  latitude: fc.double({ min: -90, max: 90, noNaN: true }),
  longitude: fc.double({ min: -180, max: 180, noNaN: true }),
});

/** The angle between two unit vectors: another formula for the same arc. */
function arcByVectors(from: Coordinates, to: Coordinates): number {
  const vector = ({ latitude, longitude }: Coordinates): [number, number, number] => {
    const [phi, lambda] = [(latitude * Math.PI) / 180, (longitude * Math.PI) / 180];
    return [Math.cos(phi) * Math.cos(lambda), Math.cos(phi) * Math.sin(lambda), Math.sin(phi)];
  };
  const [a, b] = [vector(from), vector(to)];
  const cross = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const dot = a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  return 6371.0088 * Math.atan2(Math.hypot(...cross), dot);
}

/** A millimetre, in kilometres; near the antipode the haversine itself loses this much. */
const FINE = 1e-3;

describe('the distance', () => {
  it('agrees with the angle between vectors, is the same both ways, and is zero to itself', () => {
    fc.assert(
      fc.property(point, point, (one, other) => {
        expect([distanceKm(one, one), distanceKm(other, one)]).toEqual([0, distanceKm(one, other)]);
        expect(Math.abs(distanceKm(one, other) - arcByVectors(one, other))).toBeLessThan(FINE);
      }),
    );
  });

  it.each([
    [{ latitude: 0, longitude: 0 }, { latitude: 0, longitude: 1 }, 111.195],
    [{ latitude: 0, longitude: 179.5 }, { latitude: 0, longitude: -179.5 }, 111.195],
    [{ latitude: 90, longitude: 0 }, { latitude: -90, longitude: 0 }, 20_015.114],
  ])('from %j to %j is %f km', (from, to, km) => expect(distanceKm(from, to)).toBeCloseTo(km, 3));
});
