import { type ByteRange, judgeRange } from './byte-range';

/** The file's facts that conditions are checked against. */
export interface Validators {
  /** With its quotes; `W/"…"` for a weak one. */
  readonly etag: string | undefined;
  /** Unix milliseconds. */
  readonly modifiedAtMs: number | undefined;
  /** Bytes; undefined if the source does not say. Ranges are then ignored. */
  readonly size: number | undefined;
}

export interface SelectionRequest {
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
