import { type ReactNode } from 'react';
import { type Usage } from '../../../contract/usage';
import { formatCount } from '../../parts/format/numbers';
import { formatDay } from '../../parts/format/time';
import { useProductTitles } from '../../parts/hooks/use-product-titles';
import { DataTable, type Column } from '../../parts/components/data-table';

type UsedDay = Usage['days'][number];
type Refused = Usage['refusals'][number];

type TitleOf = (product: string) => string;

const usedColumns = (titleOf: TitleOf, requestsOf: (row: UsedDay) => number | undefined): readonly Column<UsedDay>[] => [
  { header: 'Day', isTitle: true, cell: ({ day }) => <time dateTime={day}>{formatDay(day)}</time> },
  { header: 'Product', cell: ({ product }) => titleOf(product) },
  { header: 'Keys', cell: ({ mode }) => (mode === 'test' ? 'Test' : 'Live') },
  { header: 'Requests, all keys', isNumber: true, cell: (row) => formatCount(requestsOf(row) ?? 0) },
  { header: 'Charged', isNumber: true, cell: ({ charged }) => formatCount(charged) },
  { header: 'Refunded', isNumber: true, cell: ({ refunded }) => formatCount(refunded) },
  { header: 'Used', isNumber: true, cell: ({ used }) => formatCount(used) },
];

const refusedColumns = (titleOf: TitleOf): readonly Column<Refused>[] => [
  { header: 'Day', isTitle: true, cell: ({ day }) => <time dateTime={day}>{formatDay(day)}</time> },
  { header: 'Product', cell: ({ product }) => titleOf(product) },
  { header: 'Reason', cell: ({ code }) => <span className="mono">{code}</span> },
  { header: 'Refused', isNumber: true, cell: ({ count }) => formatCount(count) },
];

const newestFirst = <Row extends { readonly day: string }>(rows: readonly Row[]): Row[] =>
  [...rows].sort((a, b) => (a.day < b.day ? 1 : -1));

/** The figures of the first chart, what was given back, and the requests of the day. */
export function UsedTable({ days, answers }: Pick<Usage, 'days' | 'answers'>): ReactNode {
  const titleOf = useProductTitles();
  const requestsOf = (row: UsedDay): number | undefined =>
    answers.find(({ day, product }) => day === row.day && product === row.product)?.admitted;
  return (
    <DataTable
      caption="Used by day and product"
      columns={usedColumns(titleOf, requestsOf)}
      rows={newestFirst(days)}
      rowKey={({ day, product, mode }) => `${day} ${product} ${mode}`}
    />
  );
}

/** The figures of the second chart. */
export function RefusedTable({ refusals }: Pick<Usage, 'refusals'>): ReactNode {
  const titleOf = useProductTitles();
  return (
    <DataTable
      caption="Requests refused by day and reason"
      columns={refusedColumns(titleOf)}
      rows={newestFirst(refusals)}
      rowKey={({ day, product, code }) => `${day} ${product} ${code}`}
    />
  );
}
