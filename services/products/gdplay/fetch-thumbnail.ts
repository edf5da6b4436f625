import { type CallContext } from '../../kit/service/define-service';
import { ServiceError } from '../../kit/errors';
import { bytesReply, type Reply } from '../../kit/service/reply';
import { formatInstant, formatTimestamp } from '../../kit/timestamp';
import { type GdplayDeps } from './deps';
import { driveFailure } from './drive-failure';
import { type DriveFile } from './drive-file';
import { readWhole } from './drive-transport';
import { isPage, judgeRefusal } from './judge-refusal';
import { bareType } from './media-type';
import { type FileRef, type FileRefInput, parseFileRef } from './parse-file-ref';

/** Image types without scripts, which excludes SVG. */
const PICTURE = /^image\/(?:jpeg|png|webp|gif|avif)$/;
const MAX_PICTURE_BYTES = 10_485_760;

export interface ThumbnailInput extends FileRefInput {
  /** Width in pixels. */
  readonly size: number;
  readonly format: 'image' | 'json';
}

interface Picture {
  readonly contentType: string;
  readonly bytes: Buffer;
}

function noThumbnail(): ServiceError {
  return new ServiceError('not_found', { detail: 'Google Drive has no thumbnail for this file.' });
}

/** @throws ServiceError 404, 502 with `reason`, 504 */
async function fetchPicture(ref: FileRef, size: number, { context, deps }: { context: CallContext; deps: GdplayDeps }): Promise<Picture> {
  const query = new URLSearchParams({ id: ref.id, sz: `w${size}` });
  if (ref.resourceKey !== undefined) query.set('resourcekey', ref.resourceKey);
  const { mode, signal } = context;
  const address = `${deps.transport.baseUrl('web', mode)}/thumbnail?${query.toString()}`;
  const response = await deps.transport.open(address, { mode, signal, headers: { accept: 'image/*' } });
  if (response.status === 404) {
    response.body.destroy();
    throw noThumbnail();
  }
  if (response.status !== 200 || isPage(response)) throw await judgeRefusal(response);
  const contentType = bareType(response.headers['content-type']);
  if (!PICTURE.test(contentType)) {
    response.body.destroy();
    throw driveFailure('bad_response', new Error('the thumbnail is not an image'));
  }
  return { contentType, bytes: await readWhole(response.body, MAX_PICTURE_BYTES) };
}

function describePicture(file: DriveFile, { contentType, bytes }: Picture, nowMs: number) {
  return {
    status: 'success' as const,
    data: {
      id: file.id,
      name: file.name ?? null,
      content_type: file.contentType,
      size_bytes: file.size ?? null,
      width: file.video.width ?? null,
      height: file.video.height ?? null,
      duration_ms: file.video.durationMs ?? null,
      modified_at: file.modifiedAtMs === undefined ? null : formatInstant(file.modifiedAtMs),
      thumbnail: { content_type: contentType, size_bytes: bytes.length, base64: bytes.toString('base64') },
    },
    timestamp: formatTimestamp(nowMs),
  };
}

/**
 * The preview image that Drive keeps of a video, as bytes or in JSON.
 * @throws ServiceError 400, 404, 415, 502 with `reason`, 504
 */
export async function fetchThumbnail(
  input: ThumbnailInput,
  context: CallContext,
  deps: GdplayDeps,
): Promise<Reply | ReturnType<typeof describePicture>> {
  const ref = parseFileRef(input);
  const { mode, signal } = context;
  return deps.files.use(ref, { mode, signal }, async (file) => {
    if (!file.hasThumbnail) throw noThumbnail();
    const picture = await fetchPicture(ref, input.size, { context, deps });
    return input.format === 'json' ? describePicture(file, picture, context.clock.now()) : bytesReply(picture.bytes, picture.contentType);
  });
}
