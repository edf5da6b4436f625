import { closeSync, copyFileSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';

/** A log larger than this is moved to `<name>.log.1`. */
const MAX_LOG_BYTES = 20 * 1024 * 1024;

/**
 * Moves an overlong log aside. The file is copied and truncated rather than renamed, because children hold it open. They append, so the
 * next line starts the emptied file. Lines written in between are lost, which is acceptable in a development log.
 */
export function rotateLog(file: string, largestBytes = MAX_LOG_BYTES): void {
  if (logSize(file) <= largestBytes) return;
  copyFileSync(file, `${file}.1`);
  truncateSync(file);
}

/** Opens a log for a child to append to. Our descriptor is closed once the child has its own. */
export function withLog<T>(file: string, use: (descriptor: number) => T): T {
  const descriptor = openSync(file, 'a', 0o600);
  try {
    return use(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

const TAIL_LINES = 12;

/** Length of a log in bytes; 0 when there is none. */
export function logSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0;
}

/**
 * The last lines, for an error message. They usually say why a child did not start.
 * @param from bytes of earlier attempts to leave out; none when the log was moved aside since
 */
export function logTail(file: string, from = 0): string {
  try {
    const content = readFileSync(file);
    return content
      .subarray(from < content.length ? from : 0)
      .toString()
      .trimEnd()
      .split('\n')
      .slice(-TAIL_LINES)
      .map((line) => `  ${line.slice(0, 300)}`)
      .join('\n');
  } catch {
    return '  (nothing)';
  }
}
