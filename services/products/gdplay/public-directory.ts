import { Parser } from 'htmlparser2';
import { driveFailure, notPlayable } from './drive-failure';
import { type DriveDirectory, type DriveFile } from './drive-file';
import { type DriveCall, type DriveResponse, type DriveTransport, readWhole } from './drive-transport';
import { isPage, judgePage, judgeRefusal } from './judge-refusal';
import { nameOf, playableType } from './media-type';
import { type FileRef } from './parse-file-ref';

/** The first byte is enough to find out size, type and name. */
const PROBE = { range: 'bytes=0-0' };
const STRONG_TAG = /^"[\x21\x23-\x7e]*"$/;

/** Bytes of the file; undefined if the response does not say. */
function sizeOf({ status, headers }: DriveResponse): number | undefined {
  const text = status === 200 ? headers['content-length'] : /\/(\d{1,15})$/.exec(headers['content-range'] ?? '')?.[1];
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

/** Google's stores send a hash of the content, which is as strong as a tag can be. */
function tagOf({ headers }: DriveResponse): string | undefined {
  const { etag = '' } = headers;
  if (STRONG_TAG.test(etag)) return etag;
  const hashes = headers['x-goog-hash'] ?? '';
  const hash = /\bmd5=([\w+/]+={0,2})/.exec(hashes) ?? /\bcrc32c=([\w+/]+={0,2})/.exec(hashes);
  return hash?.[1] === undefined ? undefined : `"${hash[1]}"`;
}

function isEmptyFile(response: DriveResponse): boolean {
  return response.status === 416 && sizeOf(response) === 0;
}

function fileOf(ref: FileRef, response: DriveResponse): DriveFile {
  const { headers, url } = response;
  const name = nameOf(headers['content-disposition']);
  const contentType = playableType(headers['content-type'] ?? '', name);
  if (contentType === undefined) throw notPlayable();
  const modifiedAtMs = Date.parse(headers['last-modified'] ?? '');
  return {
    id: ref.id,
    name,
    contentType,
    size: sizeOf(response),
    etag: tagOf(response),
    modifiedAtMs: Number.isNaN(modifiedAtMs) ? undefined : modifiedAtMs,
    hasThumbnail: true,
    video: { width: undefined, height: undefined, durationMs: undefined },
    media: { address: url.href, headers: {} },
  };
}

/** Public downloads, made like a browser without an account: requests one byte, and confirms if Drive wants that. */
export class PublicDirectory implements DriveDirectory {
  constructor(private readonly transport: DriveTransport) {}

  async describe(ref: FileRef, call: DriveCall): Promise<DriveFile> {
    const query = new URLSearchParams({ export: 'download', id: ref.id });
    if (ref.resourceKey !== undefined) query.set('resourcekey', ref.resourceKey);
    const request = { ...call, headers: PROBE };
    let response = await this.transport.open(`${this.transport.baseUrl('web', call.mode)}/uc?${query.toString()}`, request);
    if (isPage(response)) {
      const html = (await readWhole(response.body)).toString('utf8');
      const confirmed = response.status === 200 ? findConfirmedAddress(html, response.url, ref.id) : undefined;
      if (confirmed === undefined) throw judgePage(response.status, html);
      response = await this.transport.open(confirmed, request);
    }
    const isFile = response.status === 200 || response.status === 206 || isEmptyFile(response);
    if (!isFile || isPage(response)) throw await judgeRefusal(response);
    response.body.destroy();
    if (response.status === 206 && sizeOf(response) === undefined) throw driveFailure('bad_response');
    return fileOf(ref, response);
  }
}

/** Google has used both ids. */
const FORM_IDS = new Set(['download-form', 'downloadForm']);
const MAX_FIELDS = 20;

interface Form {
  readonly action: string;
  readonly fields: Map<string, string>;
}

function readForm(html: string): Form | undefined {
  let form: Form | undefined;
  let isInside = false;
  const parser = new Parser({
    onopentag(name, attributes) {
      if (name === 'form' && !form && FORM_IDS.has(attributes['id'] ?? '')) {
        form = { action: attributes['action'] ?? '', fields: new Map() };
        isInside = true;
      }
      if (!form || !isInside || name !== 'input' || attributes['type']?.toLowerCase() !== 'hidden') return;
      const field = attributes['name'] ?? '';
      if (field !== '' && form.fields.size < MAX_FIELDS) form.fields.set(field, attributes['value'] ?? '');
    },
    onclosetag(name) {
      if (name === 'form') isInside = false;
    },
  });
  parser.end(html);
  return form;
}

/**
 * The address behind "Download anyway" on the page that warns about a missing virus scan. The caller must judge the host.
 * @param page address of the page
 * @returns undefined when the page has no such form, or its form is for another file
 */
function findConfirmedAddress(html: string, page: URL, id: string): string | undefined {
  const form = readForm(html);
  if (!form || !URL.canParse(form.action, page.href)) return undefined;
  const address = new URL(form.action, page);
  for (const [name, value] of form.fields) address.searchParams.set(name, value);
  return address.searchParams.get('id') === id ? address.href : undefined;
}
