import { Skeleton } from '@mantine/core';
import { type ReactNode } from 'react';
import classes from './data-table.module.css';
import { ProblemAlert } from './problem-alert';

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** Numbers are aligned to the right. */
  readonly isNumber?: boolean;
  /** Becomes the head of the card for a row on a phone. */
  readonly isTitle?: boolean;
  /** The header is for screen readers only: a column of buttons needs none. */
  readonly isHeaderHidden?: boolean;
  /** Takes the card's whole width on a phone, where other cells stand two in a row. */
  readonly isWide?: boolean;
  /** True when the cell has a value in this row. A column without any value is left out. */
  readonly isTold?: (row: Row) => boolean;
}

interface DataTableProps<Row> {
  /** Read out before the table. */
  readonly caption: string;
  readonly columns: readonly Column<Row>[];
  /** Undefined while they load. */
  readonly rows: readonly Row[] | undefined;
  readonly rowKey: (row: Row) => string;
  /** Number of grey rows shown while loading. */
  readonly expectedRows?: number;
  readonly empty?: ReactNode;
  /** For short rows, which stay lines on a phone: no labels, and the last column below the others. */
  readonly hasLines?: boolean;
}

/** A table that becomes a list of cards on a phone. The roles are spelled out because `display: block` takes them away. */
export function DataTable<Row>({ caption, columns: all, rows, rowKey, expectedRows = 5, empty, hasLines }: DataTableProps<Row>): ReactNode {
  const columns = all.filter(({ isTold }) => isTold === undefined || rows?.some(isTold));
  if (rows?.length === 0 && empty !== undefined) return <div className={classes['frame']}>{empty}</div>;
  return (
    <div className={classes['frame']}>
      <table role="table" className={classes['table']} aria-label={caption} aria-busy={rows === undefined} data-lines={hasLines}>
        <thead role="rowgroup">
          <tr role="row">
            {columns.map((column) => (
              <th key={column.header} role="columnheader" scope="col" data-number={column.isNumber}>
                {column.isHeaderHidden ? <span className="visually-hidden">{column.header}</span> : column.header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows ? rows.map((row) => <Cells key={rowKey(row)} row={row} columns={columns} />) : waitingRows(expectedRows, columns)}
        </tbody>
      </table>
    </div>
  );
}

interface ReadTableProps<Row> extends DataTableProps<Row> {
  /** What {@link useRead} says of the rows beside them. */
  readonly read: { readonly error: Error | null; readonly refetch: () => Promise<unknown> };
}

/** A table of what is read, or why it could not be read. */
export function ReadTable<Row>({ read: { error, refetch }, ...table }: ReadTableProps<Row>): ReactNode {
  if (error) return <ProblemAlert problem={error} onRetry={() => void refetch()} />;
  return <DataTable {...table} />;
}

function Cells<Row>({ row, columns }: { readonly row: Row; readonly columns: readonly Column<Row>[] }): ReactNode {
  return (
    <tr role="row">
      {columns.map((column) => (
        <td
          key={column.header}
          role="cell"
          data-number={column.isNumber}
          data-title={column.isTitle}
          data-wide={column.isWide}
          data-label={column.isHeaderHidden || column.isTitle ? undefined : column.header}
        >
          <div className={classes['value']}>{column.cell(row)}</div>
        </td>
      ))}
    </tr>
  );
}

function waitingRows<Row>(count: number, columns: readonly Column<Row>[]): ReactNode {
  return Array.from({ length: count }, (_, index) => (
    <tr role="row" key={index}>
      {columns.map((column) => (
        <td role="cell" key={column.header} data-title={column.isTitle}>
          <Skeleton height={14} my={4} width={column.isNumber ? '50%' : '75%'} />
        </td>
      ))}
    </tr>
  ));
}
