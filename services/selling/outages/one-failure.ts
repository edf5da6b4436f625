/** A product that works for this long counts as recovered in mails. A failure that begins sooner is still the same one. */
export const SETTLED_MS = 15 * 60_000;

/** A time in which a product failed. */
export interface FailingTime {
  readonly id: string;
  readonly product: string;
  readonly beganAt: Date;
  /** Null while it goes on. */
  readonly endedAt: Date | null;
}

/** Outages of one product with less than {@link SETTLED_MS} between them. */
export interface Failure extends Omit<FailingTime, 'id'> {
  /** Ids of its first and its last outage, about which mails are sent. */
  readonly first: string;
  readonly last: string;
}

/**
 * The failure that an outage is part of; undefined when the outage is not among them.
 * @param outages of one product, in any order
 */
export function failureOf(outages: readonly FailingTime[], id: string): Failure | undefined {
  const failures: Failure[] = [];
  let found: number | undefined;
  for (const { id: own, ...each } of [...outages].sort((a, b) => a.beganAt.getTime() - b.beganAt.getTime())) {
    const before = failures.at(-1);
    const isSame = before && (before.endedAt === null || each.beganAt.getTime() - before.endedAt.getTime() < SETTLED_MS);
    if (isSame) failures.splice(-1, 1, { ...before, endedAt: each.endedAt, last: own });
    else failures.push({ ...each, first: own, last: own });
    if (own === id) found = failures.length - 1;
  }
  return found === undefined ? undefined : failures[found];
}
