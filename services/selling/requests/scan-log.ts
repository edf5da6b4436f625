/** Maximum lines that are looked through for one page: rare matches take more pages, but never more time. */
export const MAX_SCANNED = 2_000;

/** Admitted requests whose response has a status from `least` to `most`. Refusals are selected by their codes. */
export interface StatusRange {
  readonly least: number;
  readonly most: number;
}

/** Filters without an index, for which each line is read. */
export interface LineFilter {
  /** Method in capitals. */
  readonly method?: string | undefined;
  /** Beginning of the path. */
  readonly path?: string | undefined;
  readonly statuses?: StatusRange | undefined;
  /** Responses that took more milliseconds than this. */
  readonly slowerThanMs?: number | undefined;
}

/** Makes a value a parameter of the statement. @returns its placeholder */
export type Give = (value: unknown) => string;

/** Conditions of SQL. Unreported values match no filter. */
export function lineConditions({ method, path, statuses, slowerThanMs }: LineFilter, give: Give): string[] {
  const conditions: string[] = [];
  if (method !== undefined) conditions.push(`method = ${give(method)}`);
  if (path !== undefined) conditions.push(`starts_with(path, ${give(path)})`);
  if (statuses) conditions.push(`(outcome <> 'admitted' OR status BETWEEN ${give(statuses.least)} AND ${give(statuses.most)})`);
  if (slowerThanMs !== undefined) conditions.push(`milliseconds > ${give(slowerThanMs)}`);
  return conditions;
}

/** The cost of a line's request, as SQL: without units that it reserved and did not use. */
export function unitsOfLine(line: string): string {
  return `${line}.units - COALESCE((SELECT rest.units FROM quota_refund rest WHERE rest.request_id = ${line}.request_id || '/rest'), 0)::integer`;
}

export interface LogScan {
  /** Conditions that an index covers. */
  readonly conditions: readonly string[];
  /** Conditions for which each line is read, at most {@link MAX_SCANNED} of them. */
  readonly filters: readonly string[];
  /** The time as the index has it. */
  readonly at: string;
  readonly limit: number;
}

const PLACE = "(extract(epoch FROM at) * 1000000)::bigint::text || '|' || request_id";

/**
 * Common table expressions of a page of the log, newest first: `page` has its lines with one more if there is a next page, and `seen` says
 * in one row how many lines were looked through, and which was the last.
 */
export function scanLog({ conditions, filters, at, limit }: LogScan): string {
  const isFiltered = filters.length > 0;
  const where = (all: readonly string[]): string => (all.length === 0 ? '' : `WHERE ${all.join(' AND ')}`);
  return `
recent AS MATERIALIZED (
  SELECT * FROM decision ${where(conditions)} ORDER BY ${at} DESC, request_id DESC LIMIT ${isFiltered ? MAX_SCANNED : limit + 1}
), page AS (
  SELECT *, ${PLACE} AS place FROM recent ${where(filters)} ORDER BY at DESC, request_id DESC LIMIT ${limit + 1}
), seen AS (
  SELECT count(*)::integer AS scanned, (array_agg(${PLACE} ORDER BY at, request_id))[1] AS last_scanned FROM recent WHERE ${isFiltered}
)`;
}

/** A position in a list of decisions, newest first: everything after it is older. */
export interface LogPlace {
  /** Whole microseconds since 1970, as text: a Date has none, and requests of one millisecond are common. */
  readonly micros: string;
  readonly requestId: string;
}

/** Far beyond every decision, and within the range of a timestamp. */
const FIRST: LogPlace = { micros: '9999999999999999', requestId: '' };

/** An unreadable cursor is the beginning. */
export function readLogPlace(cursor: string | undefined): LogPlace {
  const text = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString();
  const [, micros, requestId] = /^(\d{1,16})\|([^\0]{1,100})$/.exec(text) ?? [];
  return micros === undefined || requestId === undefined ? FIRST : { micros, requestId };
}

export function writeLogPlace({ micros, requestId }: LogPlace): string {
  return Buffer.from(`${micros}|${requestId}`).toString('base64url');
}

/** Older than the position in a cursor; an unreadable cursor is the beginning. */
export function olderThan(after: string | undefined, { at, give }: { readonly at: string; readonly give: Give }): string {
  const { micros, requestId } = readLogPlace(after);
  const epoch = at === 'at' ? 'timestamptz' : 'timestamp';
  return `(${at}, request_id) < (${epoch} 'epoch' + ${give(micros)}::bigint * interval '1 microsecond', ${give(requestId)})`;
}

/** Columns of each row of such a statement, besides its own. */
export interface ScannedRow {
  /** Null in the one row of a page without lines. */
  readonly requestId: string | null;
  readonly place: string;
  readonly scanned: number;
  readonly lastScanned: string | null;
}

/** The lines of a page, and where the next one begins. A page may be short although there is a next one. */
export function cutScan<Row extends ScannedRow>(
  rows: readonly Row[],
  limit: number,
): { lines: readonly (Row & { requestId: string })[]; next: string | undefined } {
  const found = rows.filter((row): row is Row & { requestId: string } => row.requestId !== null);
  const lines = found.slice(0, limit);
  const end = found.length > limit ? lines.at(-1)?.place : rows[0]?.scanned === MAX_SCANNED ? rows[0].lastScanned : undefined;
  const [micros = '', ...id] = (end ?? '').split('|');
  return { lines, next: end === undefined || end === null ? undefined : writeLogPlace({ micros, requestId: id.join('|') }) };
}
