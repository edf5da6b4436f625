/** Greater than any row's number: the first page. */
const FIRST = '9223372036854775807';

/** The text for `next` of a page that ended with this row. */
export function cursorAfter(number: string): string {
  return Buffer.from(number).toString('base64url');
}

/**
 * Rows are numbered upwards and read downwards; a page holds the numbers below the returned one.
 * @param cursor an unreadable one gives the first page
 */
export function numberBefore(cursor: string | undefined): string {
  const text = cursor === undefined ? '' : Buffer.from(cursor, 'base64url').toString('latin1');
  return /^\d{1,18}$/.test(text) ? text : FIRST;
}

/** Cuts a page from one row more than it may hold: the extra row only shows that there is a next page. */
export function cutPage<Row extends { readonly number: string }>(
  rows: readonly Row[],
  limit: number,
): { readonly rows: readonly Row[]; readonly next: string | undefined } {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { rows: shown, next: last && cursorAfter(last.number) };
}
