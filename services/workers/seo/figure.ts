/** Who says a figure: we read it ourselves, a third party publishes it, or we computed an opinion. */
export type SourceKind = 'measured' | 'provider' | 'service_estimate';

/** A number and where it comes from. `null`: the source was asked and has none. */
export interface Figure {
  readonly value: number | null;
  readonly unit: string;
  /** A name in the answer's list of sources. */
  readonly source: string;
  readonly kind: SourceKind;
}

/** The source of opinions; its name in every answer. */
export const SERVICE = 'service';
/** The source of what was read on web pages. */
export const PAGE_FETCH = 'page_fetch';

/** Something that we counted on pages that we fetched. */
export function measured(value: number | null, unit: string): Figure {
  return { value, unit, source: PAGE_FETCH, kind: 'measured' };
}

export function provided(value: number | null, unit: string, source: string): Figure {
  return { value, unit, source, kind: 'provider' };
}

/** @param value rounded to two decimals */
export function estimated(value: number | null, unit: string): Figure {
  return { value: value === null ? null : Math.round(value * 100) / 100, unit, source: SERVICE, kind: 'service_estimate' };
}
