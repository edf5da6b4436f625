/** Who says a figure: we read it ourselves, a third party publishes it, or we computed an opinion. */
export type SourceKind = 'measured' | 'provider' | 'service_estimate';

/** A number and where it comes from. */
export interface Figure {
  /** Null when it is not known; `reason` says why. */
  readonly value: number | null;
  readonly unit: string;
  /** A name in the answer's list of sources, unless it was never asked. */
  readonly source: string;
  /** Null when the source was never asked. */
  readonly kind: SourceKind | null;
  /** Of null alone: `unknown_to_source`, `not_configured`, `domain_only` and the like, or how the source failed. */
  readonly reason?: string;
}

/** The source of opinions; its name in every answer. */
export const SERVICE = 'service';
/** The source of what was read on web pages. */
export const PAGE_FETCH = 'page_fetch';

/** Something that we counted on pages that we fetched; null where none of them could be read. */
export function measured(value: number | null, unit: string): Figure {
  return { value, unit, source: PAGE_FETCH, kind: 'measured', ...(value === null && { reason: 'page_not_read' }) };
}

/** @param reason why there is no value; `unknown_to_source` unless given */
export function provided(
  value: number | null,
  unit: string,
  { source, reason = 'unknown_to_source' }: { source: string; reason?: string },
): Figure {
  return { value, unit, source, kind: 'provider', ...(value === null && { reason }) };
}

/** What a source was not asked for. */
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
