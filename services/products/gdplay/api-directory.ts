import { z } from 'zod';
import { driveFailure, notPlayable } from './drive-failure';
import { type DriveDirectory, type DriveFile } from './drive-file';
import { type DriveTransport, readWhole } from './drive-transport';
import { judgeApiError } from './judge-refusal';
import { playableType } from './media-type';
import { type FileRef, folderRefused } from './parse-file-ref';

const FIELDS =
  'id,name,mimeType,size,md5Checksum,thumbnailLink,hasThumbnail,videoMediaMetadata(width,height,durationMillis),modifiedTime,headRevisionId';
const FOLDER = 'application/vnd.google-apps.folder';

/** Google's JSON writes 64-bit numbers as text. */
const longNumber = z
  .string()
  .regex(/^\d{1,15}$/)
  .transform(Number);

const metadata = z.object({
  name: z.string().optional(),
  mimeType: z.string(),
  size: longNumber.optional(),
  md5Checksum: z
    .string()
    .regex(/^[\da-f]{32}$/i)
    .optional(),
  headRevisionId: z
    .string()
    .regex(/^[\w-]{1,200}$/)
    .optional(),
  modifiedTime: z.string().optional(),
  hasThumbnail: z.boolean().optional(),
  videoMediaMetadata: z
    .object({ width: z.number().optional(), height: z.number().optional(), durationMillis: longNumber.optional() })
    .optional(),
});

type Metadata = z.output<typeof metadata>;

function parseMetadata(bytes: Buffer): Metadata {
  try {
    return metadata.parse(JSON.parse(bytes.toString('utf8')));
  } catch (error) {
    throw driveFailure('bad_response', error);
  }
}

function timeOf(text: string | undefined): number | undefined {
  const ms = Date.parse(text ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}

function fileOf(ref: FileRef, found: Metadata, media: DriveFile['media']): DriveFile {
  if (found.mimeType === FOLDER) throw folderRefused();
  const contentType = playableType(found.mimeType, found.name);
  if (contentType === undefined) throw notPlayable();
  const version = found.md5Checksum ?? found.headRevisionId;
  return {
    id: ref.id,
    name: found.name,
    contentType,
    size: found.size,
    etag: version === undefined ? undefined : `"${version}"`,
    modifiedAtMs: timeOf(found.modifiedTime),
    hasThumbnail: found.hasThumbnail ?? true,
    video: {
      width: found.videoMediaMetadata?.width,
      height: found.videoMediaMetadata?.height,
      durationMs: found.videoMediaMetadata?.durationMillis,
    },
    media,
  };
}

/** Drive API v3 with an API key: what it reports about files that are shared with everyone. */
export class ApiDirectory implements DriveDirectory {
  constructor(
    private readonly transport: DriveTransport,
    /** By mode of the call: the seller's key is never sent to the sandbox. */
    private readonly apiKeys: Readonly<Record<'live' | 'test', string>>,
  ) {}

  async describe(ref: FileRef, call: Parameters<DriveDirectory['describe']>[1]): Promise<DriveFile> {
    const base = `${this.transport.baseUrl('api', call.mode)}/drive/v3/files/${ref.id}`;
    const key = encodeURIComponent(this.apiKeys[call.mode]);
    const headers: Record<string, string> = ref.resourceKey === undefined ? {} : { 'x-goog-drive-resource-keys': `${ref.id}/${ref.resourceKey}` }; // prettier-ignore
    const address = `${base}?fields=${encodeURIComponent(FIELDS)}&supportsAllDrives=true&key=${key}`;
    const response = await this.transport.open(address, { ...call, headers: { ...headers, accept: 'application/json' } });
    const bytes = await readWhole(response.body);
    if (response.status !== 200) throw judgeApiError(response.status, bytes.toString('utf8'));
    return fileOf(ref, parseMetadata(bytes), { address: `${base}?alt=media&supportsAllDrives=true&key=${key}`, headers });
  }
}
