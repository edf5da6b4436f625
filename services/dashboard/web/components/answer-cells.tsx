import { type ReactNode } from 'react';
import { type LoggedRequest } from '../../contract/requests';
import { formatCount } from '../format/numbers';
import { type Column } from './data-table';

/** What the gateway told of a request's answer. */
type Told = Pick<LoggedRequest, 'method' | 'path' | 'status' | 'milliseconds' | 'isRunning'>;

const KIB = 1024;
const UNITS = ['bytes', 'KiB', 'MiB', 'GiB'] as const;

/** `512 bytes`, `1.5 MiB`. */
export function formatBytes(bytes: number): string {
  const place = bytes < KIB ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log(bytes) / Math.log(KIB)));
  const value = bytes / KIB ** place;
  return `${place === 0 ? formatCount(value) : value.toFixed(1)} ${UNITS[place] ?? ''}`;
}

/** A figure, or why there is none. */
function Figure({ of, isRunning, children }: { of: number | null; isRunning: boolean; children: ReactNode }): ReactNode {
  if (of === null) return <span className="dimmed">{isRunning ? 'running' : 'not known'}</span>;
  return <span className="keep">{children}</span>;
}

/** Method and path without its query. */
export function Asked({ method, path }: Pick<Told, 'method' | 'path'>): ReactNode {
  if (method === null && path === null) return <span className="dimmed">not known</span>;
  return <span className="mono breakable">{[method, path].filter((part) => part !== null).join(' ')}</span>;
}

/** Columns of what came of a request. */
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
export const SIZE_COLUMN: Column<Told & Pick<LoggedRequest, 'bytes'>> = {
  header: 'Size',
  isNumber: true,
  cell: ({ bytes, isRunning }) => (
    <Figure of={bytes} isRunning={isRunning}>
      {formatBytes(bytes ?? 0)}
    </Figure>
  ),
};
