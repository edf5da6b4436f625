import { readFile, stat } from 'node:fs/promises';

/**
 * Reads a request body that Kong spooled to a file; undefined when it is larger than `maxBytes`. A file that is not there is one of another
 * container's: kong.conf lets Kong keep the largest form that is searched for a key in memory, so a body in a file is larger than that,
 * and a stranger who sends one is a caller without a key, not an outage.
 * @throws Error when the file is there and cannot be read
 */
export async function readBodyFile(path: string, maxBytes: number): Promise<Buffer | undefined> {
  try {
    const { size } = await stat(path);
    return size > maxBytes ? undefined : await readFile(path);
  } catch (error) {
    if ((error as { code?: unknown } | null)?.code === 'ENOENT') return undefined;
    throw error;
  }
}
