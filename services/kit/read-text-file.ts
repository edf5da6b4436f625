import { closeSync, fstatSync, openSync, readFileSync } from 'node:fs';

/**
 * Reads a UTF-8 file that people write by hand. The size is checked before a byte is read, so that a wrong path cannot fill the memory.
 * @returns undefined when it has more than `mostBytes`
 * @throws Error when it is no regular file, a pipe or a device for example; whatever opening it throws
 */
export function readTextFile(path: string, mostBytes: number): string | undefined {
  const file = openSync(path, 'r');
  try {
    const facts = fstatSync(file);
    if (!facts.isFile()) throw new Error(`${path} is not a file`);
    return facts.size > mostBytes ? undefined : readFileSync(file, 'utf8');
  } finally {
    closeSync(file);
  }
}
