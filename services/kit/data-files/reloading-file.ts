import { readFile, stat } from 'node:fs/promises';

/** A file kept parsed in memory and read again when it changes on disk. */
export interface ReloadingFile<T> {
  /** The last version that could be parsed. */
  current(): T;
  /** Reads the file again when its size, time or inode differ from the version in memory; true when a new version is in use. */
  checkForChange(): Promise<boolean>;
  close(): void;
}

export interface ReloadingFileOptions<T> {
  readonly path: string;
  /** @throws Error when the bytes are not a complete file of this kind */
  readonly parse: (bytes: Buffer) => T | Promise<T>;
  /** Milliseconds between two looks at the file; 0 never looks. */
  readonly pollMs: number;
  /** Called when a changed file cannot be used. The version in memory stays in use. */
  readonly onError: (path: string, cause: unknown) => void;
}

async function fingerprintOf(path: string): Promise<string> {
  const { ino, mtimeMs, size } = await stat(path);
  return `${ino}:${mtimeMs}:${size}`;
}

/**
 * Reads and parses the file, then watches it by polling: notifications get lost on network and overlay file systems.
 * @throws when the first version cannot be read or parsed
 */
export async function openReloadingFile<T>(options: ReloadingFileOptions<T>): Promise<ReloadingFile<T>> {
  const { path, parse, pollMs, onError } = options;
  let fingerprint = await fingerprintOf(path);
  let value = await parse(await readFile(path));

  const checkForChange = async (): Promise<boolean> => {
    try {
      const seen = await fingerprintOf(path);
      if (seen === fingerprint) return false;
      value = await parse(await readFile(path));
      fingerprint = seen;
      return true;
    } catch (cause) {
      // A file in the middle of being written fails here; the fingerprint is left alone so that the next look tries again.
      onError(path, cause);
      return false;
    }
  };

  const timer = pollMs > 0 ? setInterval(() => void checkForChange(), pollMs).unref() : undefined;
  return { current: () => value, checkForChange, close: () => clearInterval(timer) };
}
