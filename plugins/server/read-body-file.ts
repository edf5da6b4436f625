import { readFile, stat } from 'node:fs/promises';

/**
 * Reads a request body that Kong spooled to a file; undefined when it is larger than `maxBytes`. A missing file lies in Kong's own
 * container. kong.conf keeps every form that may hold a key in memory, so such a body is too large for a key: its sender counts as a caller
 * without a key, not as an outage.
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
