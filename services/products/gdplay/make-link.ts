import { newViewing, sealLink, LINK_PARAMETER } from '../../../plugins/core/proof/access-link';
import { parseIpAddress } from '../../../plugins/core/access/ip-address';
import { invalidInput, notConfigured } from '../../kit/errors';
import { type CallContext } from '../../kit/service/define-service';
import { formatTimestamp } from '../../kit/timestamp';
import { type GdplayDeps } from './deps';
import { driveFailure } from './drive-failure';
import { type DriveFile } from './drive-file';
import { type FileRef, type FileRefInput, parseFileRef } from './parse-file-ref';

/** A viewing may transfer the file twice, and further bytes for what players read ahead of seeks in a short file. */
const TIMES_THE_FILE = 2;
const SEEKING_BYTES = 16_777_216;

export interface LinkInput extends FileRefInput {
  /** Seconds. */
  readonly expires_in: number;
  readonly viewer?: string | undefined;
}

/** The name of a file inside a link, read only by the service that made the link. */
export function resourceOf({ id, resourceKey }: FileRef): string {
  return resourceKey === undefined ? id : `${id} ${resourceKey}`;
}

/** The file that a link's resource names. */
export function fileOf(resource: string): FileRef {
  const [id = '', resourceKey] = resource.split(' ');
  return { id, resourceKey };
}

function viewerOf(text: string | undefined): string | undefined {
  if (text === undefined || text === '') return undefined;
  const address = parseIpAddress(text);
  if (!address) throw invalidInput([{ field: 'viewer', message: 'must be an IPv4 or IPv6 address' }]);
  return address.text;
}

function allowanceOf({ size }: DriveFile): number {
  // Without a size, the use of a link would be unbounded.
  if (size === undefined) throw driveFailure('bad_response', new Error('Drive does not report the size of the file'));
  return size * TIMES_THE_FILE + SEEKING_BYTES;
}

/**
 * Makes a link with which one viewer can play a file without a key, for the unit that this request cost.
 * @throws ServiceError 400, 404, 415, 502 with `reason`, 503 if links are not set up, 504
 */
export async function makeLink(input: LinkInput, context: CallContext, deps: GdplayDeps) {
  const { mode, signal, clock, proof } = context;
  const keys = deps.linkKeys;
  if (!keys) throw notConfigured(['GDPLAY_LINK_KEYS'], 'any');
  const ref = parseFileRef(input);
  const address = viewerOf(input.viewer);
  return deps.files.use(ref, { mode, signal }, (file) => {
    const nowMs = clock.now();
    const expiresAt = Math.floor(nowMs / 1000) + input.expires_in;
    const { product, credentialId, subscriptionId } = proof;
    const grant = { viewing: newViewing(), resource: resourceOf(ref), allowance: allowanceOf(file), expiresAt };
    const token = sealLink({ product, credentialId, subscriptionId, grant, address }, keys);
    return Promise.resolve({
      status: 'success' as const,
      data: {
        path: `/gdplay/stream?${LINK_PARAMETER}=${token}`,
        expires_at: new Date(expiresAt * 1000).toISOString(),
        viewer: address ?? null,
        content_type: file.contentType,
        size_bytes: file.size ?? null,
        duration_ms: file.video.durationMs ?? null,
        width: file.video.width ?? null,
        height: file.video.height ?? null,
        allowance_bytes: grant.allowance,
      },
      timestamp: formatTimestamp(nowMs),
    });
  });
}
