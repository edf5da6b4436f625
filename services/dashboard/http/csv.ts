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

/** The pages of a list, each read when the earlier ones are sent: however long the list, a process holds one page of it. */
export async function* readPages<Page extends { readonly next: string | undefined }>(
  read: (after: string | undefined) => Promise<Page>,
  maxPages = Infinity,
): AsyncGenerator<Page> {
  let after: string | undefined;
  for (let count = 0; count < maxPages; count += 1) {
    const page = await read(after);
    yield page;
    if (page.next === undefined) return;
    after = page.next;
  }
}
