import { randomUUID } from 'node:crypto';

/** Ids of one millisecond are counted in 12 bits. */
const MAX_COUNT = 4_095;
let [lastMs, count] = [0, 0];

/**
 * A UUID (version 7) greater than all earlier ones: rows that are created together lie together in every index, while random ids would
 * write a page for each.
 */
export function ascendingId(): string {
  const nowMs = Date.now();
  if (nowMs > lastMs) [lastMs, count] = [nowMs, 0];
  else if (count < MAX_COUNT) count += 1;
  else [lastMs, count] = [lastMs + 1, 0];
  const time = lastMs.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count.toString(16).padStart(3, '0')}${randomUUID().slice(18)}`;
}
