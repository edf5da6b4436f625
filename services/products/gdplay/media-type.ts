/** Media types that mean nothing, or name only the container. The file's name then decides. */
const VAGUE_TYPES = new Set(['application/octet-stream', 'binary/octet-stream', 'application/ogg', 'application/mp4', '']);
const PLAYABLE = /^(?:video|audio)\/[a-z\d][a-z\d.+-]{0,80}$/;

const BY_EXTENSION: Readonly<Record<string, string>> = {
  mp4: 'video/mp4',
  m4v: 'video/mp4',
  mov: 'video/quicktime',
  webm: 'video/webm',
  mkv: 'video/x-matroska',
  avi: 'video/x-msvideo',
  wmv: 'video/x-ms-wmv',
  flv: 'video/x-flv',
  mpg: 'video/mpeg',
  mpeg: 'video/mpeg',
  ogv: 'video/ogg',
  '3gp': 'video/3gpp',
  mp3: 'audio/mpeg',
  m4a: 'audio/mp4',
  aac: 'audio/aac',
  wav: 'audio/wav',
  flac: 'audio/flac',
  ogg: 'audio/ogg',
  oga: 'audio/ogg',
  opus: 'audio/ogg',
};

const MAX_CHARACTERS = 200;

/** A media type without its parameters, in lower case. */
export function bareType(contentType: string | undefined): string {
  return (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '';
}

/** The video or audio type to announce for a file; undefined when it is neither. */
export function playableType(mimeType: string, name: string | undefined): string | undefined {
  const type = bareType(mimeType);
  if (PLAYABLE.test(type)) return type;
  const extension = /\.([a-z\d]{1,5})$/i.exec(name ?? '')?.[1]?.toLowerCase();
  if (!VAGUE_TYPES.has(type) || extension === undefined || !Object.hasOwn(BY_EXTENSION, extension)) return undefined;
  return BY_EXTENSION[extension];
}

/** Percent-encoding of RFC 8187, which also encodes some characters that encodeURIComponent leaves alone. */
function encodeExtended(text: string): string {
  return encodeURIComponent(text).replace(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** A `Content-Disposition` for playing in place. A name that is not plain ASCII is also in `filename*`. */
export function inlineDisposition(name: string | undefined): string {
  // Lone surrogates cannot be encoded.
  const shown = [...(name ?? '').replace(/[\p{Cc}\p{Cs}]/gu, '')].slice(0, MAX_CHARACTERS).join('');
  if (shown === '') return 'inline';
  const plain = shown.replace(/[^\x20-\x7e]|["\\]/g, '_');
  return plain === shown ? `inline; filename="${plain}"` : `inline; filename="${plain}"; filename*=UTF-8''${encodeExtended(shown)}`;
}

/** The file name of an upstream's `Content-Disposition`. */
export function nameOf(disposition: string | undefined): string | undefined {
  const extended = /;\s*filename\*=UTF-8''([^;\s]+)/i.exec(disposition ?? '')?.[1];
  if (extended !== undefined) {
    try {
      return decodeURIComponent(extended);
    } catch {
      // The encoding is broken. The plain name is still there.
    }
  }
  return /;\s*filename="((?:[^"\\]|\\.)*)"/i.exec(disposition ?? '')?.[1]?.replace(/\\(.)/g, '$1');
}
