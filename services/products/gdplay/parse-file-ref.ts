import { invalidInput } from '../../kit/errors';

/** A file on Google Drive, as named by a caller. */
export interface FileRef {
  readonly id: string;
  /** Older shared links need it in addition to the id. */
  readonly resourceKey: string | undefined;
}

export interface FileRefInput {
  readonly id?: string | undefined;
  readonly url?: string | undefined;
  readonly resourcekey?: string | undefined;
}

type Parsed =
  { readonly ok: true; readonly id: string; readonly resourceKey: string | undefined } | { readonly ok: false; readonly message: string };

const ID = /^[\w-]{10,200}$/;
const RESOURCE_KEY = /^[\w-]{1,200}$/;
const FILE_PATH = /^\/file\/(?:u\/\d{1,3}\/)?d\/([^/]+)(?:\/.*)?$/;
const FOLDER_PATH = /^\/(?:drive\/(?:u\/\d{1,3}\/)?(?:mobile\/)?folders\/|folderview(?:\/|$)|embeddedfolderview(?:\/|$))/;
const DOWNLOAD_HOST = 'drive.usercontent.google.com';
/** Compared as a whole: `drive.google.com.example` belongs to somebody else. */
const HOSTS = new Set(['drive.google.com', 'docs.google.com', DOWNLOAD_HOST]);

const NOT_AN_ID = 'must be a Google Drive file id or link';
const A_FOLDER = 'is a folder; give the id of a file';

function refused(message: string): Parsed {
  return { ok: false, message };
}

/** The single value of a parameter; undefined if it is absent or has several different values. */
function only(query: URLSearchParams, name: string): string | undefined {
  const values = new Set(query.getAll(name));
  return values.size === 1 ? [...values][0] : undefined;
}

function parseLink(text: string): Parsed {
  if (!URL.canParse(text)) return refused(NOT_AN_ID);
  const url = new URL(text);
  const isWeb = url.protocol === 'https:' || url.protocol === 'http:';
  if (!isWeb || url.port !== '' || url.username !== '' || url.password !== '') return refused(NOT_AN_ID);
  if (!HOSTS.has(url.hostname)) return refused('must be a link to drive.google.com or docs.google.com');
  if (url.hostname === DOWNLOAD_HOST && url.pathname !== '/download') return refused(NOT_AN_ID);
  if (FOLDER_PATH.test(url.pathname)) return refused(A_FOLDER);
  const id = FILE_PATH.exec(url.pathname)?.[1] ?? only(url.searchParams, 'id');
  return id !== undefined && ID.test(id) ? { ok: true, id, resourceKey: only(url.searchParams, 'resourcekey') } : refused(NOT_AN_ID);
}

function parse(text: string): Parsed {
  return ID.test(text) ? { ok: true, id: text, resourceKey: undefined } : parseLink(text);
}

/**
 * Reads `id` or `url`, whichever was sent. Both accept a bare id or a link. Empty fields count as absent, because forms send every field.
 * @throws ServiceError 400
 */
export function parseFileRef(input: FileRefInput): FileRef {
  const id = input.id?.trim() ?? '';
  const url = input.url?.trim() ?? '';
  const given = input.resourcekey?.trim() ?? '';
  if (id === '' && url === '') throw invalidInput([{ field: 'id', message: 'is required, or url' }]);
  if (id !== '' && url !== '') throw invalidInput([{ field: 'url', message: 'must not be given besides id' }]);
  const parsed = parse(id === '' ? url : id);
  if (!parsed.ok) throw invalidInput([{ field: id === '' ? 'url' : 'id', message: parsed.message }]);
  const resourceKey = given === '' ? parsed.resourceKey : given;
  if (resourceKey !== undefined && !RESOURCE_KEY.test(resourceKey)) {
    throw invalidInput([{ field: 'resourcekey', message: 'may hold only letters, digits, _ and -' }]);
  }
  return { id: parsed.id, resourceKey };
}

/** The message for a file that is known to be a folder only after asking Drive. */
export function folderRefused(): Error {
  return invalidInput([{ field: 'id', message: A_FOLDER }]);
}
