/** Positions of the first and last byte, inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** `ignored`: the whole representation is sent. */
export type RangeVerdict = { readonly kind: 'ignored' } | { readonly kind: 'unsatisfiable' } | ({ readonly kind: 'part' } & ByteRange);

const IGNORED: RangeVerdict = { kind: 'ignored' };
const UNSATISFIABLE: RangeVerdict = { kind: 'unsatisfiable' };
const INT_RANGE = /^(\d+)-(\d*)$/;
const SUFFIX_RANGE = /^-(\d+)$/;
/** Larger positions lose digits as numbers, and do not occur. */
const MAX_DIGITS = 15;

function parsePosition(digits: string): number {
  const significant = digits.replace(/^0+(?=\d)/, '');
  return significant.length > MAX_DIGITS ? Number.POSITIVE_INFINITY : Number(significant);
}

/** True for `9-3`, however long the numbers are. */
function isReversed(from: string, to: string): boolean {
  const [first, last] = [from, to].map((each) => each.replace(/^0+(?=\d)/, '')) as [string, string];
  return first.length === last.length ? first > last : first.length > last.length;
}

/**
 * Judges a `Range` field by RFC 9110, section 14. Another unit and broken syntax are ignored. So are several ranges, because a server may
 * respond with the whole. Empty list members do not count.
 * @param size bytes of the representation
 */
export function judgeRange(field: string, size: number): RangeVerdict {
  const text = /^\s*bytes\s*=(.*)$/i.exec(field)?.[1];
  const ranges = (text ?? '').split(',').map((each) => each.trim()).filter((each) => each !== ''); // prettier-ignore
  const [range = ''] = ranges;
  if (ranges.length !== 1) return IGNORED;
  const suffix = SUFFIX_RANGE.exec(range)?.[1];
  if (suffix !== undefined) return judgeSuffix(parsePosition(suffix), size);
  const [, from, to = ''] = INT_RANGE.exec(range) ?? [];
  if (from === undefined || (to !== '' && isReversed(from, to))) return IGNORED;
  const first = parsePosition(from);
  if (first >= size) return UNSATISFIABLE;
  return { kind: 'part', first, last: Math.min(to === '' ? size - 1 : parsePosition(to), size - 1) };
}

function judgeSuffix(length: number, size: number): RangeVerdict {
  if (length === 0) return UNSATISFIABLE;
  // The last bytes of an empty file exist, but no Content-Range can name them.
  if (size === 0) return IGNORED;
  return { kind: 'part', first: Math.max(0, size - length), last: size - 1 };
}
