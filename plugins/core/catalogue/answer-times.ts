/**
 * Upper bounds, in milliseconds, of the classes of response times; slower responses have a class of their own. They range from an address
 * looked up in memory to the longest that a product may take. Counts are stored by index, so add bounds only at the end.
 */
export const ANSWER_TIME_BOUNDS_MS = [10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000] as const;

/** The index of a time's class: the first bound that is not below it, or the index after the last. */
export function answerTimePlace(elapsedMs: number): number {
  let place = 0;
  while (elapsedMs > (ANSWER_TIME_BOUNDS_MS[place] ?? Infinity)) place += 1;
  return place;
}
