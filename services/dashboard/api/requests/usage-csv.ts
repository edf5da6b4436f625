import { Readable } from 'node:stream';
import { type Usage } from '../../contract/usage';

type Cell = string | number;

/** What a spreadsheet would take for a formula when a cell begins with it. */
const FORMULA = /^[=+\-@\t\r]/;

/** One field of RFC 4180. A text that a spreadsheet would calculate is shown as text, with an apostrophe before it. */
export function csvField(cell: Cell): string {
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** One record, with its line end. */
export function csvRecord(cells: readonly Cell[]): string {
  return `${cells.map(csvField).join(',')}\r\n`;
}

interface Row {
  charged: number;
  refunded: number;
  used: number;
  readonly refused: Map<string, number>;
}

function rowsOf({ days, refusals }: Pick<Usage, 'days' | 'refusals'>): Map<string, Row> {
  const rows = new Map<string, Row>();
  const rowOf = (day: string, product: string): Row => {
    const place = `${day}\0${product}`;
    const row = rows.get(place) ?? { charged: 0, refunded: 0, used: 0, refused: new Map<string, number>() };
    rows.set(place, row);
    return row;
  };
  for (const { day, product, charged, refunded, used } of days) Object.assign(rowOf(day, product), { charged, refunded, used });
  for (const { day, product, code, count } of refusals) rowOf(day, product).refused.set(code, count);
  return rows;
}

function* records(usage: Pick<Usage, 'days' | 'refusals'>): Generator<string> {
  const rows = rowsOf(usage);
  const codes = [...new Set(usage.refusals.map(({ code }) => code))].sort();
  yield csvRecord(['day', 'product', 'charged', 'refunded', 'used', 'refused', ...codes.map((code) => `refused_${code}`)]);
  for (const place of [...rows.keys()].sort()) {
    const row = rows.get(place);
    const [day = '', product = ''] = place.split('\0');
    if (!row) continue;
    const counts = codes.map((code) => row.refused.get(code) ?? 0);
    const refused = counts.reduce((sum, count) => sum + count, 0);
    yield csvRecord([day, product, row.charged, row.refunded, row.used, refused, ...counts]);
  }
}

/** A line for each day and product, by day; a column for each code that occurs. */
export function usageCsv(usage: Pick<Usage, 'days' | 'refusals'>): Readable {
  return Readable.from(records(usage));
}
