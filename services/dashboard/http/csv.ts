export type Cell = string | number;

/** A spreadsheet reads a cell that begins like this as a formula; a negative number is none. */
const FORMULA = /^(?!-\d+(\.\d+)?$)[=+\-@\t\r]/;

/** The same within a cell: some spreadsheets end a cell at a semicolon or tab, even between quotes. */
const INNER_FORMULA = /(?<=[;\t])(?=[=+\-@])/g;

/** One field of RFC 4180. A text that a spreadsheet would evaluate gets an apostrophe in front, so that it is shown as text. */
export function csvField(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const text = (FORMULA.test(cell) ? `'${cell}` : cell).replace(INNER_FORMULA, "'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One record, including its line end. */
export function csvRecord(cells: readonly Cell[]): string {
  return `${cells.map(csvField).join(',')}\r\n`;
}
