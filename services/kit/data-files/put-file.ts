import { randomUUID } from 'node:crypto';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Replaces a file in one step: a reader sees the whole old file or the whole new one. */
export async function putFile(path: string, bytes: Buffer | string): Promise<void> {
  const draft = `${path}.${randomUUID()}.new`;
  await mkdir(dirname(path), { recursive: true });
  try {
    await writeFile(draft, bytes);
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}
