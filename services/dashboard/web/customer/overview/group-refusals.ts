/** Refused requests of one day. */
interface Counted {
  readonly product: string;
  readonly code: string;
  readonly count: number;
}

/** One refused request. */
interface Refusal {
  readonly requestId: string;
  /** ISO 8601. */
  readonly at: string;
  readonly code: string;
  readonly product: string | null;
}

/** Refusals for one reason on one product. */
export interface RefusalGroup {
  readonly code: string;
  readonly product: string;
  readonly count: number;
  /** Undefined when it is older than the refusals that were read. */
  readonly latest: Refusal | undefined;
}

/** Refusals of the period by code and product, the most first. */
export function groupRefusals(counts: readonly Counted[], newest: readonly Refusal[]): RefusalGroup[] {
  const groups = new Map<string, RefusalGroup>();
  for (const { code, product, count } of counts) {
    const place = `${code} ${product}`;
    const latest = newest.find((each) => each.code === code && each.product === product);
    groups.set(place, { code, product, latest, count: count + (groups.get(place)?.count ?? 0) });
  }
  return [...groups.values()].sort((a, b) => b.count - a.count);
}
