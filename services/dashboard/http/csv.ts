export type Cell = string | number;

/** What a spreadsheet would take for a formula when a cell begins with it; a negative number is no formula. */
const FORMULA = /^(?!-\d+(\.\d+)?$)[=+\-@\t\r]/;

/** The same within a cell: some spreadsheets take a semicolon or a tab for the end of one, whatever quotes are around it. */
const INNER_FORMULA = /(?<=[;\t])(?=[=+\-@])/g;

/** One field of RFC 4180. A text that a spreadsheet would calculate is shown as text, with an apostrophe before it. */
export function csvField(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const text = (FORMULA.test(cell) ? `'${cell}` : cell).replace(INNER_FORMULA, "'");
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One record, with its line end. */
export function csvRecord(cells: readonly Cell[]): string {
  return `${cells.map(csvField).join(',')}\r\n`;
}
