import { type ReactNode } from 'react';
import { type LoggedRequest } from '../../../contract/requests';
import { formatBytes, formatCount } from '../format/numbers';
import { type Column } from './data-table';

/** The known facts of a request and its response. */
type Told = Pick<LoggedRequest, 'method' | 'path' | 'status' | 'milliseconds' | 'bytes' | 'units' | 'isRunning'>;

/** A figure, or why there is none. */
function Figure({ of, isRunning, children }: { of: number | null; isRunning: boolean; children: ReactNode }): ReactNode {
  if (of === null) return <span className="dimmed may-wrap">{isRunning ? 'not yet known' : 'not known'}</span>;
  return <span className="keep">{children}</span>;
}

/** Method and path without its query. */
export function Asked({ method, path }: Pick<Told, 'method' | 'path'>): ReactNode {
  if (method === null && path === null) return <span className="dimmed">not known</span>;
  return <span className="mono breakable path">{[method, path].filter((part) => part !== null).join(' ')}</span>;
}

/** Columns for the outcome of a request. */
export const STATUS_COLUMN: Column<Told> = {
  header: 'Status',
  isNumber: true,
  cell: ({ status, isRunning }) => (
    <Figure of={status} isRunning={isRunning}>
      {status}
    </Figure>
  ),
};
export const TOOK_COLUMN: Column<Told> = {
  header: 'Took',
  isNumber: true,
  cell: ({ milliseconds, isRunning }) => (
    <Figure of={milliseconds} isRunning={isRunning}>
      {formatCount(milliseconds ?? 0)} ms
    </Figure>
  ),
};
/** A refusal has no further report, and costs nothing. */
export const SIZE_COLUMN: Column<Told> = {
  header: 'Size',
  isNumber: true,
  isTold: ({ bytes }) => bytes !== null,
  cell: ({ bytes }) => <span className="keep">{bytes === null ? '–' : formatBytes(bytes)}</span>,
};
export const UNITS_COLUMN: Column<Told> = {
  header: 'Units',
  isNumber: true,
  isTold: ({ units }) => units !== null,
  cell: ({ units }) => (units === null ? '–' : formatCount(units)),
};
