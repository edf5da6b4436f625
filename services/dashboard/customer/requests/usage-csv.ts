import { type UsageAnswer } from '../../contract/usage';
import { type Given } from '../../contract/endpoint';
import { type Cell, csvRecord } from '../../http/csv';

type Usage = Given<UsageAnswer>;

interface Counts {
  readonly charged: number;
  readonly refunded: number;
  readonly used: number;
}

interface Row {
  live: Counts;
  test: Counts;
  /** With any key, by code. */
  readonly refused: Map<string, number>;
  admitted: Pick<Usage['answers'][number], 'admitted' | 'answers'>;
}

type Days = Pick<Usage, 'days' | 'refusals' | 'answers'>;

const ANSWER_COLUMNS = ['succeeded', 'rejected', 'failed', 'abandoned'] as const;

function answerCells(answers: Usage['answers'][number]['answers']): Cell[] {
  return ANSWER_COLUMNS.map((name) => answers?.[name] ?? '');
}

const NONE: Counts = { charged: 0, refunded: 0, used: 0 };
const cellsOf = ({ charged, refunded, used }: Counts): Cell[] => [charged, refunded, used];

function rowsOf({ days, refusals, answers }: Days): Map<string, Row> {
  const rows = new Map<string, Row>();
  const rowOf = (day: string, product: string): Row => {
    const place = `${day}\0${product}`;
    const row = rows.get(place) ?? { live: NONE, test: NONE, refused: new Map<string, number>(), admitted: { admitted: 0, answers: null } };
    rows.set(place, row);
    return row;
  };
  for (const { day, product, mode, ...counts } of days) rowOf(day, product)[mode] = counts;
  for (const { day, product, code, count } of refusals) rowOf(day, product).refused.set(code, count);
  for (const { day, product, ...admitted } of answers) rowOf(day, product).admitted = admitted;
  return rows;
}

/** A line for each day and product, by day; a column for each code that occurs. What was not measured is empty. */
export function* usageCsv(usage: Days): Generator<string> {
  const rows = rowsOf(usage);
  const codes = [...new Set(usage.refusals.map(({ code }) => code))].sort();
  const refusedColumns = ['refused', ...codes.map((code) => `refused_${code}`)];
  const testColumns = ['test_charged', 'test_refunded', 'test_used'];
  yield csvRecord(['day', 'product', 'charged', 'refunded', 'used', ...refusedColumns, ...testColumns, 'admitted', ...ANSWER_COLUMNS]);
  for (const place of [...rows.keys()].sort()) {
    const row = rows.get(place);
    const [day = '', product = ''] = place.split('\0');
    if (!row) continue;
    const counts = codes.map((code) => row.refused.get(code) ?? 0);
    const refused = counts.reduce((sum, count) => sum + count, 0);
    const { admitted, answers } = row.admitted;
    yield csvRecord([day, product, ...cellsOf(row.live), refused, ...counts, ...cellsOf(row.test), admitted, ...answerCells(answers)]);
  }
}

/**
 * A line for each hour, product and mode, in the order of time; hours are given by their beginning, in UTC. What was not measured is empty.
 */
export function* hourlyUsageCsv({ hours }: Pick<Usage, 'hours'>): Generator<string> {
  yield csvRecord(['starts_at', 'product', 'mode', 'admitted', 'refused', 'unavailable', ...ANSWER_COLUMNS]);
  for (const { startsAt, product, mode, admitted, refused, unavailable, answers } of hours) {
    yield csvRecord([new Date(startsAt).toISOString(), product, mode, admitted, refused, unavailable, ...answerCells(answers)]);
  }
}
