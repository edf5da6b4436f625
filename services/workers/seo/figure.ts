/** Kind of source: we measured the figure ourselves, a third party publishes it, or we computed an opinion. */
export type SourceKind = 'measured' | 'provider' | 'service_estimate';

/** A number and its source. */
export interface Figure {
  /** Null when it is unknown; `reason` then says why. */
  readonly value: number | null;
  readonly unit: string;
  /** A name in the response's list of sources, unless the source was never queried. */
  readonly source: string;
  /** Null when the source was never queried. */
  readonly kind: SourceKind | null;
  /** Only for a null value: `unknown_to_source`, `not_configured`, `domain_only` and so on, or the source's failure. */
  readonly reason?: string;
}

/** Name of the source of opinions, in every response. */
export const SERVICE = 'service';
/** Name of the source of facts that were read from web pages. */
export const PAGE_FETCH = 'page_fetch';

/** A count from pages that we fetched; null when none of them could be read. */
export function measured(value: number | null, unit: string): Figure {
  return { value, unit, source: PAGE_FETCH, kind: 'measured', ...(value === null && { reason: 'page_not_read' }) };
}

/** @param reason why there is no value. Default: `unknown_to_source` */
export function provided(
  value: number | null,
  unit: string,
  { source, reason = 'unknown_to_source' }: { source: string; reason?: string },
): Figure {
  return { value, unit, source, kind: 'provider', ...(value === null && { reason }) };
}

/** A figure whose source was not queried. */
export function unasked(unit: string, { source, reason }: { source: string; reason: string }): Figure {
  return { value: null, unit, source, kind: null, reason };
}

/**
 * @param value rounded to two decimals
 * @param reason why there is no value
 */
export function estimated(value: number | null, unit: string, reason = 'nothing_known'): Figure {
  if (value === null) return { value, unit, source: SERVICE, kind: 'service_estimate', reason };
  return { value: Math.round(value * 100) / 100, unit, source: SERVICE, kind: 'service_estimate' };
}
