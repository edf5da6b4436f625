import { access } from 'node:fs/promises';
import { type ReloadingFile } from './reloading-file';

/** Open data files, or the renewal that replaced them. */
export interface RenewedFiles<Source> {
  current(): readonly Source[];
  checkForChanges(): Promise<void>;
  close(): void;
}

export interface RenewedFilesOptions<Source> {
  /** Path of the file that replaces all others as soon as it exists. Absent: the files stay in use. */
  readonly renewal: string | undefined;
  readonly files: readonly string[];
  readonly open: (path: string) => Promise<Source>;
  /** Milliseconds between two looks for the renewal; 0 never looks. */
  readonly pollMs: number;
  /** Called when the renewal cannot be used. The files stay in use. */
  readonly onError: (path: string, cause: unknown) => void;
}

/**
 * Opens the renewal if it can be used, otherwise the files. A renewal that appears later replaces the files, and is then watched like any
 * other file.
 * @throws when neither can be opened
 */
export async function openRenewedFiles<Source extends { readonly file: ReloadingFile<unknown> }>(
  options: RenewedFilesOptions<Source>,
): Promise<RenewedFiles<Source>> {
  const { renewal, files, open, pollMs, onError } = options;
  const openRenewal = async (): Promise<readonly [Source] | undefined> => {
    if (renewal === undefined) return undefined;
    const isThere = await access(renewal).then(
      () => true,
      () => false,
    );
    try {
      return isThere ? [await open(renewal)] : undefined;
    } catch (cause) {
      onError(renewal, cause);
      return undefined;
    }
  };
  const renewed = await openRenewal();
  let inUse: readonly Source[] = renewed ?? (await Promise.all(files.map(open)));
  let isRenewed = renewed !== undefined;
  let isClosed = false;
  const look = async (): Promise<void> => {
    if (isRenewed) return;
    const found = await openRenewal();
    if (!found) return;
    if (isRenewed || isClosed) return found[0].file.close();
    for (const { file } of inUse) file.close();
    [inUse, isRenewed] = [found, true];
  };
  const timer = pollMs > 0 && renewal !== undefined ? setInterval(() => void look(), pollMs).unref() : undefined;
  return {
    current: () => inUse,
    async checkForChanges() {
      await look();
      await Promise.all(inUse.map(({ file }) => file.checkForChange()));
    },
    close() {
      isClosed = true;
      clearInterval(timer);
      for (const { file } of inUse) file.close();
    },
  };
}
