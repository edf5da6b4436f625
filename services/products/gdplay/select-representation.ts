/** The file's facts that conditions are checked against. */
interface Validators {
  /** With its quotes; `W/"…"` for a weak one. */
  readonly etag: string | undefined;
  /** Unix milliseconds. */
  readonly modifiedAtMs: number | undefined;
  /** Bytes; undefined if the source does not say. Ranges are then ignored. */
  readonly size: number | undefined;
}

interface SelectionRequest {
  readonly method: string;
  /** A header by its lower-case name. */
  header(name: string): string | undefined;
  /** Unix milliseconds. */
  readonly nowMs: number;
}

export type Selection =
  | { readonly kind: 'whole' }
  | ({ readonly kind: 'part' } & ByteRange)
  | { readonly kind: 'not_modified' }
  | { readonly kind: 'precondition_failed' }
  | { readonly kind: 'unsatisfiable' };

const ENTITY_TAG = /(?:W\/)?"[\x21\x23-\x7e\x80-\xff]*"/g;
const HTTP_DATE = /^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)[a-z]*,? [\w :-]+$/;

/** Unix milliseconds of one of HTTP's three date forms; undefined for anything else. */
export function parseHttpDate(text: string | undefined): number | undefined {
  if (text === undefined || !HTTP_DATE.test(text)) return undefined;
  const ms = Date.parse(text.endsWith(' GMT') ? text : `${text} GMT`);
  return Number.isNaN(ms) ? undefined : ms;
}

function wholeSeconds(ms: number): number {
  return Math.floor(ms / 1_000) * 1_000;
}

function isWeak(tag: string): boolean {
  return tag.startsWith('W/');
}

function opaque(tag: string): string {
  return isWeak(tag) ? tag.slice(2) : tag;
}

function listed(field: string, etag: string | undefined, matches: (one: string, other: string) => boolean): boolean {
  if (field.trim() === '*') return true;
  return etag !== undefined && (field.match(ENTITY_TAG) ?? []).some((tag) => matches(tag, etag));
}

const strongly = (one: string, other: string): boolean => one === other && !isWeak(one);
const weakly = (one: string, other: string): boolean => opaque(one) === opaque(other);

/** RFC 9110 section 13.2.2, the steps before `Range`. */
function judgeConditions(request: SelectionRequest, { etag, modifiedAtMs }: Validators): 'go' | 'not_modified' | 'precondition_failed' {
  const ifMatch = request.header('if-match');
  const modifiedAt = modifiedAtMs === undefined ? undefined : wholeSeconds(modifiedAtMs);
  if (ifMatch !== undefined) {
    if (!listed(ifMatch, etag, strongly)) return 'precondition_failed';
  } else {
    const until = parseHttpDate(request.header('if-unmodified-since'));
    if (until !== undefined && modifiedAt !== undefined && modifiedAt > until) return 'precondition_failed';
  }
  const ifNoneMatch = request.header('if-none-match');
  if (ifNoneMatch !== undefined) return listed(ifNoneMatch, etag, weakly) ? 'not_modified' : 'go';
  const since = parseHttpDate(request.header('if-modified-since'));
  return since !== undefined && modifiedAt !== undefined && modifiedAt <= since ? 'not_modified' : 'go';
}

/** RFC 9110, section 13.1.5: the range counts only with a strong validator that equals ours. */
function isRangeWanted(request: SelectionRequest, { etag, modifiedAtMs }: Validators): boolean {
  const ifRange = request.header('if-range')?.trim();
  if (ifRange === undefined) return true;
  if (ifRange.includes('"')) return etag !== undefined && strongly(ifRange, etag);
  const date = parseHttpDate(ifRange);
  if (date === undefined || modifiedAtMs === undefined) return false;
  // A file can change again within the same second, so a recent date is not a strong validator.
  return date === wholeSeconds(modifiedAtMs) && request.nowMs - date >= 1_000;
}

/**
 * Decides which part of a file a request gets. Conditions count for GET and HEAD, ranges for GET alone. Any other method gets the whole.
 */
export function selectRepresentation(request: SelectionRequest, validators: Validators): Selection {
  if (request.method !== 'GET' && request.method !== 'HEAD') return { kind: 'whole' };
  const condition = judgeConditions(request, validators);
  if (condition !== 'go') return { kind: condition };
  const range = request.header('range');
  const { size } = validators;
  if (range === undefined || request.method === 'HEAD' || size === undefined || !isRangeWanted(request, validators))
    return { kind: 'whole' };
  const verdict = judgeRange(range, size);
  return verdict.kind === 'ignored' ? { kind: 'whole' } : verdict;
}

/** Positions of the first and last byte, inclusive. */
export interface ByteRange {
  readonly first: number;
  readonly last: number;
}

/** `ignored`: the whole representation is sent. */
type RangeVerdict = { readonly kind: 'ignored' } | { readonly kind: 'unsatisfiable' } | ({ readonly kind: 'part' } & ByteRange);

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
