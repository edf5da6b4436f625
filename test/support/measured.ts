/**
 * Whether this run measures: true in `npm run test:performance`, where a test has the machine to itself. A `.measured` test runs in
 * `npm test` too, without its bounds.
 */
export const isMeasured = Reflect.get(globalThis, 'isMeasured') === true;

/** Fails in a run that measures unless the figure is below its bound: milliseconds, bytes or a share of the time. */
export function expectMeasured(figure: number, bound: number): void {
  expect(figure).toBeLessThan(isMeasured ? bound : Infinity);
}
