import { LRUCache } from 'lru-cache';
import { type Clock } from '../../../plugins/core/ports';
import { ServiceError } from '../../kit/errors';
import { type DriveDirectory, type DriveFile } from './drive-file';
import { type DriveCall } from './drive-transport';
import { type FileRef } from './parse-file-ref';

/** A player that seeks makes many requests for one file. The old description of a replaced file may be served for this long at most. */
const FRESH_MS = 60_000;
const MAX_FILES = 5_000;

function keyOf(ref: FileRef, call: DriveCall): string {
  return [call.mode, ref.id, ref.resourceKey ?? ''].join('/');
}

/** True for failures that an outdated description can cause: the file was replaced, or the address of its bytes expired. */
function mayBeOutdated(error: unknown): boolean {
  return error instanceof ServiceError && (error.problem === 'upstream_failed' || error.problem === 'not_found');
}

/** Remembers Drive's description of a file for a minute, separately for live and test keys. Failures are not remembered. */
export class DescribedFiles {
  private readonly known: LRUCache<string, DriveFile>;

  constructor(
    private readonly directory: DriveDirectory,
    clock: Clock,
  ) {
    this.known = new LRUCache({ max: MAX_FILES, ttl: FRESH_MS, ttlResolution: 0, perf: { now: () => clock.monotonic() } });
  }

  /**
   * Works on a file. If that fails with a remembered description, it is repeated once with a fresh one.
   * @throws ServiceError of `describe` and of `work`
   */
  async use<T>(ref: FileRef, call: DriveCall, work: (file: DriveFile) => Promise<T>): Promise<T> {
    const key = keyOf(ref, call);
    const known = this.known.get(key);
    if (known) {
      try {
        return await work(known);
      } catch (error) {
        this.known.delete(key);
        if (!mayBeOutdated(error)) throw error;
      }
    }
    const file = await this.directory.describe(ref, call);
    this.known.set(key, file);
    return work(file);
  }
}
