import { type OperationRefusal } from '../../services/selling/operations/operation-refusals';
import { OperationRefused } from '../../services/selling/operations/operation-refused';
import { CommandError } from '../command-error';

/** Prints a command's result: one JSON text for scripts, or lines for people. */
export interface Output {
  readonly json: boolean;
  /** @param text called only when it is needed */
  result(value: unknown, text: () => string): void;
  /** One line for people, in addition to the result. */
  warn(text: string): void;
  error(error: unknown): void;
}

/** Streams for results and errors. */
export interface Streams {
  readonly stdout: { write(text: string): unknown };
  readonly stderr: { write(text: string): unknown };
}

export function createOutput(json: boolean, { stdout, stderr }: Streams): Output {
  return {
    json,
    result(value, text) {
      stdout.write(`${json ? JSON.stringify(value) : text()}\n`);
    },
    warn(text) {
      stderr.write(`${oneLine(text)}\n`);
    },
    error(error) {
      const { code, message } = describe(error);
      const mistakes = error instanceof CommandError ? error.mistakes : [];
      const lines = [`tollgate: ${message}`, ...mistakes.map(({ text }) => `  ${oneLine(text)}`)];
      const problem = { code, message, ...(mistakes.length > 0 && { mistakes }) };
      stderr.write(`${json ? JSON.stringify({ error: problem }) : lines.join('\n')}\n`);
    },
  };
}

/** The commands that list what was asked for. Operations themselves do not know that a command line called them. */
const HINTS: Partial<Record<OperationRefusal, string>> = {
  customer_unknown: 'npx tollgate customer create --email EMAIL adds one',
  operator_unknown: 'npx tollgate operator list shows them',
  operator_exists: 'npx tollgate operator reset EMAIL prints a new link',
  key_limit_reached: 'npx tollgate customer limits EMAIL shows and raises the limits',
  rule_limit_reached: 'npx tollgate customer limits EMAIL shows and raises the limits',
  key_unknown: 'npx tollgate key list --customer EMAIL shows the ids',
  webhook_unknown: 'npx tollgate webhook list shows the ids',
  delivery_unknown: 'npx tollgate webhook deliveries ID shows the ids',
  request_unknown: 'npx tollgate subscription requests shows the open ones',
  subscription_unknown: 'npx tollgate subscription list --customer EMAIL shows the ids',
};

function describe(error: unknown): { code: string; message: string } {
  if (error instanceof CommandError) return { code: error.code, message: oneLine(error.message) };
  if (error instanceof OperationRefused) {
    const hint = HINTS[error.code];
    return { code: error.code, message: oneLine(hint === undefined ? error.message : `${error.message}; ${hint}`) };
  }
  return { code: 'unexpected', message: oneLine(`unexpected: ${error instanceof Error ? error.message : String(error)}`) };
}

function oneLine(text: string): string {
  return text.trim().replace(/\s*\n\s*/g, ' ');
}

type Cell = string | number | null | undefined;

/** A table whose columns are as wide as their cells; a missing value shows as a dash. */
export function table(titles: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const cells = [titles, ...rows].map((row) =>
    row.map((cell) => (cell === null || cell === undefined || cell === '' ? '–' : String(cell))),
  );
  const widths = titles.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ').trimEnd()).join('\n'); // prettier-ignore
}
