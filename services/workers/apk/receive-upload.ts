import { randomUUID, createHash } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from '../../kit/errors';
import { type AnalyzeRequest__Output } from '../generated/apk/apk/v1/AnalyzeRequest';
import { LIMITS } from './limits';
import { type FileFacts } from './report';

/** A file that has arrived. It has no name on disk, so it is gone when the handle is closed or the process ends. */
export interface ReceivedFile {
  readonly handle: FileHandle;
  readonly facts: FileFacts;
}

const MAX_NAME = 255;

/** @throws Error when the folder cannot be written */
export async function openNamelessFile(folder: string): Promise<FileHandle> {
  const path = join(folder, `apk-${randomUUID()}.part`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  return handle;
}

/**
 * Writes the pieces of an upload to a file as they arrive. Each piece is written before the next is read.
 * @param handle empty; the caller closes it
 * @throws ServiceError 413 past the limit, 400 when the header is missing; the signal's reason when the sender is gone
 */
export async function receiveUpload(
  requests: AsyncIterable<AnalyzeRequest__Output>,
  handle: FileHandle,
  signal: AbortSignal,
): Promise<ReceivedFile> {
  const digests = { md5: createHash('md5'), sha1: createHash('sha1'), sha256: createHash('sha256') };
  let name: string | undefined;
  let size = 0;
  for await (const { header, chunk } of requests) {
    signal.throwIfAborted();
    name ??= header?.fileName;
    if (!chunk || chunk.length === 0) continue;
    if (size + chunk.length > LIMITS.fileBytes) throw tooLarge();
    for (const digest of Object.values(digests)) digest.update(chunk);
    await handle.write(chunk, 0, chunk.length, size);
    size += chunk.length;
  }
  // A cancelled stream ends like a complete one.
  signal.throwIfAborted();
  if (name === undefined) throw new ServiceError('invalid_request', { detail: 'The upload has no header.' });
  const { md5, sha1, sha256 } = digests;
  const facts = { name: cleanName(name), size, md5: md5.digest('hex'), sha1: sha1.digest('hex'), sha256: sha256.digest('hex') };
  return { handle, facts };
}

function tooLarge(): ServiceError {
  return new ServiceError('payload_too_large', {
    detail: `The file is larger than the ${LIMITS.fileBytes} bytes that this route accepts.`,
    members: { limit_bytes: LIMITS.fileBytes },
  });
}

/** Cleans a name that is only displayed: no folders and no control characters. */
function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1) ?? '';
  return last.replace(/\p{Cc}/gu, '').slice(0, MAX_NAME) || 'upload.apk';
}
