import { type MeasuredLoad } from './load';

type Cells = readonly (string | number)[];

const rowOf = (cells: Cells): string => `| ${cells.join(' | ')} |`;

/** A Markdown table. All columns but the first are figures. */
export function tableOf(titles: readonly string[], rows: readonly Cells[]): string {
  return [titles, titles.map((_, index) => (index === 0 ? '---' : '---:')), ...rows].map(rowOf).join('\n');
}

interface LoadTable {
  /** Title of the first column. */
  readonly title: string;
  /** The row that ratios are relative to. */
  readonly base: string;
  /** Columns of CPU time: a process by its title. */
  readonly processes: Readonly<Record<string, string>>;
}

export function loadTable(loads: readonly MeasuredLoad[], { title, base, processes }: LoadTable): string {
  const baseRate = loads.find(({ name }) => name === base)?.requestsPerSecond ?? NaN;
  const rows = loads.map(({ name, requestsPerSecond, p50, p99, cpuMicros }) => [
    name,
    ...[requestsPerSecond.toFixed(0), (requestsPerSecond / baseRate).toFixed(2), p50.toFixed(2), p99.toFixed(2)],
    ...Object.values(processes).map((process) => cpuMicros[process]?.toFixed(0) ?? ''),
    Object.values(cpuMicros)
      .reduce((sum, micros) => sum + micros, 0)
      .toFixed(0),
  ]);
  const cpuTitles = [...Object.keys(processes), 'together'].map((process) => `CPU µs, ${process}`);
  return tableOf([title, 'requests/s', 'ratio', 'p50 ms', 'p99 ms', ...cpuTitles], rows);
}
