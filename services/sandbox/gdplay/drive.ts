import { once } from 'node:events';
import { Readable } from 'node:stream';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { findDriveFile, type StoredFile, DRIVE_FILES } from './drive-files';
import { drawPng } from '../png';
import { neverAnswer, type SandboxUpstream, type SandboxExample } from '../sandbox-upstream';

/** Nothing listens there, so a client that follows the redirect is noticed. */
const FOREIGN_ORIGIN = 'http://192.0.2.1';
const LOGIN = 'https://accounts.google.com/ServiceLogin?continue=https://drive.google.com';

type Query = Readonly<Record<string, string | undefined>>;
type Asked = FastifyRequest<{ Querystring: Query }>;

function origin(request: FastifyRequest): string {
  return `http://${request.headers.host ?? '127.0.0.1'}`;
}

function html(reply: FastifyReply, status: number, text: string): FastifyReply {
  return reply.code(status).type('text/html; charset=utf-8').send(text);
}

interface ApiFailure {
  readonly status: number;
  readonly reason: string;
  readonly message: string;
}

function refuse(reply: FastifyReply, { status, reason, message }: ApiFailure): FastifyReply {
  return reply.code(status).send({ error: { code: status, message, errors: [{ message, domain: 'global', reason }] } });
}

function missing(id: string): ApiFailure {
  return { status: 404, reason: 'notFound', message: `File not found: ${id}.` };
}

const NO_KEY: ApiFailure = {
  status: 403,
  reason: 'forbidden',
  message: "Method doesn't allow unregistered callers (callers without established identity).",
};
const OVER_QUOTA: ApiFailure = {
  status: 403,
  reason: 'downloadQuotaExceeded',
  message: 'The download quota for this file has been exceeded.',
};
const BROKEN: ApiFailure = { status: 503, reason: 'backendError', message: 'Backend Error' };

/** Numbers are text where Google sends text. Only the requested fields are present. */
function metadataOf(file: StoredFile, fields: string): unknown {
  const isVideo = file.mimeType.startsWith('video/');
  const isFolder = file.mimeType === 'application/vnd.google-apps.folder';
  const all: Readonly<Record<string, unknown>> = {
    id: file.id,
    name: file.name,
    mimeType: file.mimeType,
    hasThumbnail: isVideo && file.trouble !== 'no_thumbnail',
    modifiedTime: file.modifiedTime,
    ...(!isFolder && { size: String(file.size), md5Checksum: file.md5, headRevisionId: `0B${file.md5.slice(0, 20)}` }),
    ...(isVideo && { videoMediaMetadata: { width: 64, height: 36, durationMillis: '4000' } }),
  };
  const names = fields.replace(/\([^)]*\)/g, '').split(',');
  return Object.fromEntries(names.filter((name) => name in all).map((name) => [name, all[name]]));
}

function answerApi(id: string, request: Asked, reply: FastifyReply): FastifyReply | void {
  if (!request.query['key']) return refuse(reply, NO_KEY);
  const file = findDriveFile(id);
  if (!file || file.trouble === 'private') return refuse(reply, missing(id));
  if (file.trouble === 'silent') return neverAnswer(reply);
  if (file.trouble === 'down') return refuse(reply, BROKEN);
  if (request.query['alt'] !== 'media') return reply.send(metadataOf(file, request.query['fields'] ?? 'id,name,mimeType'));
  if (file.trouble === 'quota') return refuse(reply, OVER_QUOTA);
  if (file.trouble === 'web_page') return html(reply, 200, oddPage());
  if (file.trouble === 'redirected_elsewhere' || file.trouble === 'form_elsewhere') return reply.redirect(`${FOREIGN_ORIGIN}/media`, 302);
  return sendMedia(file, request, reply);
}

/** The old address of keyless downloads, which redirects every request. */
function answerUc(request: Asked, reply: FastifyReply): FastifyReply | void {
  const id = request.query['id'] ?? '';
  const file = findDriveFile(id);
  if (!file || file.mimeType === 'application/vnd.google-apps.folder') return html(reply, 404, missingPage());
  if (file.trouble === 'private') return reply.redirect(LOGIN, 303);
  if (file.trouble === 'silent') return neverAnswer(reply);
  if (file.trouble === 'down') return html(reply, 503, oddPage());
  const where = file.trouble === 'redirected_elsewhere' ? FOREIGN_ORIGIN : `${origin(request)}/drive/usercontent`;
  return reply.redirect(`${where}/download?id=${id}&export=download`, 303);
}

function answerDownload(request: Asked, reply: FastifyReply): FastifyReply {
  const file = findDriveFile(request.query['id']);
  if (!file || file.trouble === 'private') return html(reply, 404, missingPage());
  if (file.trouble === 'quota') return html(reply, 200, quotaPage());
  if (file.trouble === 'web_page') return html(reply, 200, oddPage());
  if (file.needsConfirmation && !(request.query['confirm'] === 't' && request.query['uuid'])) {
    const target = file.trouble === 'form_elsewhere' ? FOREIGN_ORIGIN : `${origin(request)}/drive/usercontent`;
    return html(reply, 200, confirmationPage(file, `${target}/download`));
  }
  return sendMedia(file, request, reply);
}

function answerThumbnail(request: Asked, reply: FastifyReply): FastifyReply | void {
  const file = findDriveFile(request.query['id']);
  const width = /^w(\d{1,4})$/.exec(request.query['sz'] ?? '')?.[1] ?? '220';
  if (!file || file.trouble === 'no_thumbnail' || !file.mimeType.startsWith('video/')) return html(reply, 404, missingPage());
  if (file.trouble === 'private') return reply.redirect(LOGIN, 302);
  if (file.trouble === 'silent') return neverAnswer(reply);
  return reply.redirect(`${origin(request)}/drive/lh3/d/${file.id}=w${width}`, 302);
}

function routes(app: FastifyInstance): void {
  app.get<{ Params: { id: string }; Querystring: Query }>('/api/drive/v3/files/:id', (request, reply) =>
    answerApi(request.params.id, request, reply),
  );
  app.get<{ Querystring: Query }>('/web/uc', answerUc);
  app.get<{ Querystring: Query }>('/usercontent/download', answerDownload);
  app.get<{ Querystring: Query }>('/web/thumbnail', answerThumbnail);
  app.get<{ Params: { what: string } }>('/lh3/d/:what', (request, reply) => {
    const [, id = '', width = ''] = /^(.*)=w(\d{1,4})$/.exec(request.params.what) ?? [];
    return reply.type('image/png').send(drawPicture(id, Math.min(1_600, Math.max(16, Number(width)))));
  });
}

/** Google Drive: the v3 API below `/api`, keyless downloads and thumbnails below `/web`, and the hosts to which they redirect clients. */
export function createDrive(): SandboxUpstream {
  return { name: 'drive', examples: driveExamples, routes };
}

function page(title: string, body: string): string {
  return `<!DOCTYPE html><html><head><title>${title}</title><meta http-equiv="content-type" content="text/html; charset=utf-8"/></head><body>${body}</body></html>`;
}

function escaped(text: string): string {
  return text.replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** Google's confirmation page for a file that it did not scan. */
function confirmationPage(file: StoredFile, action: string): string {
  return page(
    'Google Drive - Virus scan warning',
    `<div class="uc-main"><div id="uc-text"><p class="uc-warning-caption">Google Drive can't scan this file for viruses.</p>` +
      `<p class="uc-warning-subcaption"><span class="uc-name-size"><a href="/open?id=${file.id}">${escaped(file.name)}</a></span> is too large for Google to scan for viruses. Would you still like to download this file?</p>` +
      `<form id="download-form" action="${escaped(action)}" method="get"><input type="submit" id="uc-download-link" class="goog-inline-block jfk-button" value="Download anyway"/>` +
      `<input type="hidden" name="id" value="${file.id}"><input type="hidden" name="export" value="download">` +
      `<input type="hidden" name="confirm" value="t"><input type="hidden" name="uuid" value="5a3c1d1e-0000-4000-8000-000000000001"></form></div></div>`,
  );
}

function quotaPage(): string {
  return page(
    'Google Drive - Quota exceeded',
    `<div class="uc-main"><p class="uc-error-caption">Sorry, you can't view or download this file at this time.</p>` +
      `<p class="uc-error-subcaption">Too many users have viewed or downloaded this file recently. Please try accessing the file again later.</p></div>`,
  );
}

function missingPage(): string {
  return page(
    'Error 404 (Not Found)!!1',
    '<p><b>404.</b> <ins>That’s an error.</ins></p><p>The requested URL was not found on this server.</p>',
  );
}

/** A page that the client does not expect. */
function oddPage(): string {
  return page('Sandbox', '<p>Nothing to see.</p><script>document.title = "never run"</script>');
}

/** A PNG of a colour gradient that depends on the id, 16:9 and `width` pixels wide. */
function drawPicture(id: string, width: number): Buffer {
  const height = Math.max(1, Math.round((width * 9) / 16));
  const [red = 0, green = 0, blue = 0] = Buffer.from(id).subarray(-3);
  return drawPng({ width, height }, (x, y) => [
    (red + Math.floor((x * 255) / width)) & 255,
    (green + Math.floor((y * 255) / height)) & 255,
    blue,
  ]);
}

const STALLS_AFTER_BYTES = 65_536;

/** First and last position of a single range. Undefined if there is none or it is invalid; `none` if the file has no byte in it. */
function rangeOf(header: string | undefined, size: number): { first: number; last: number } | 'none' | undefined {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? '');
  const [, from = '', to = ''] = match ?? [];
  if (!match || (from === '' && to === '')) return undefined;
  if (from === '') return to === '0' || size === 0 ? 'none' : { first: Math.max(0, size - Number(to)), last: size - 1 };
  if (Number(from) >= size) return 'none';
  return { first: Number(from), last: to === '' ? size - 1 : Math.min(Number(to), size - 1) };
}

async function* stalling(source: Readable): AsyncGenerator<Buffer> {
  let left = STALLS_AFTER_BYTES;
  for await (const chunk of source as AsyncIterable<Buffer>) {
    yield chunk.subarray(0, left);
    left -= chunk.length;
    if (left <= 0) await once(source, 'never');
  }
}

/** RFC 5987, the form in which Google names its downloads. */
function dispositionOf(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\]/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`;
}

/** Sends the bytes of a file, or a range of them. */
function sendMedia(file: StoredFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const range = rangeOf(request.headers.range, file.size);
  void reply.headers({
    'accept-ranges': 'bytes',
    'content-type': file.mimeType,
    'content-disposition': dispositionOf(file.name),
    'last-modified': new Date(file.modifiedTime).toUTCString(),
    'x-goog-hash': `md5=${Buffer.from(file.md5, 'hex').toString('base64')}`,
  });
  if (range === 'none') return reply.code(416).header('content-range', `bytes */${file.size}`).send('');
  const { first, last } = range ?? { first: 0, last: file.size - 1 };
  if (range) void reply.code(206).header('content-range', `bytes ${first}-${last}/${file.size}`);
  void reply.header('content-length', String(last - first + 1));
  if (request.method === 'HEAD') return reply.send();
  const bytes = file.read(first, last);
  return reply.send(file.trouble === 'stalls' && !range ? Readable.from(stalling(bytes), { objectMode: false }) : bytes);
}

type Input = Readonly<Record<string, unknown>>;

function example(route: string, outcome: string, input: Input, yields: string): SandboxExample {
  return { product: 'api-gdplay', route, method: 'GET', outcome, input, yields };
}

function stream(outcome: string, id: string, yields: string): SandboxExample {
  return example('/gdplay/stream', outcome, { id }, yields);
}

function thumbnail(outcome: string, id: string, yields: string, more: Input = {}): SandboxExample {
  return example('/gdplay/thumbnail', outcome, { id, ...more }, yields);
}

function link(outcome: string, input: Input, yields: string): SandboxExample {
  return { ...example('/gdplay/link', outcome, input, yields), method: 'POST' };
}

const FOLDER_URL = `https://drive.google.com/drive/folders/${DRIVE_FILES.folder.id}`;

/** The simulated Drive's response for each id. */
const driveExamples: readonly SandboxExample[] = [
  example('/gdplay', 'success', {}, '200, the index of the product'),
  stream('success', DRIVE_FILES.video.id, '200, an MP4 of 4 s that players can seek in; 206 for a range'),
  example(
    '/gdplay/stream',
    'success_url',
    { url: `https://drive.google.com/file/d/${DRIVE_FILES.video.id}/view?usp=sharing` },
    '200, the same clip by its sharing link',
  ),
  stream('success_confirmed', DRIVE_FILES.scanned.id, '200, a clip behind the virus scan page'),
  stream('success_audio', DRIVE_FILES.audio.id, '200, a WAV of 1,000,003 bytes'),
  stream('success_large', DRIVE_FILES.large.id, '200, a WAV of 1 GiB; ask for ranges of it'),
  stream('success_untyped', DRIVE_FILES.untyped.id, '200 video/mp4: Drive names no media type, the file name does'),
  stream('not_found', 'sandbox-missing-01', '404, like every id that is not listed here'),
  stream('private', DRIVE_FILES.private.id, '404, the file is not shared'),
  stream('not_video', DRIVE_FILES.document.id, '415, a PDF'),
  example('/gdplay/stream', 'folder', { url: FOLDER_URL }, '400, a folder'),
  stream('quota', DRIVE_FILES.quota.id, '502, reason quota'),
  stream('provider_down', DRIVE_FILES.down.id, '502, reason unreachable'),
  stream('bad_response', DRIVE_FILES.webPage.id, '502, reason bad_response: a web page where the bytes should be'),
  stream('redirected_elsewhere', DRIVE_FILES.elsewhere.id, '502, reason redirect_refused'),
  stream('form_elsewhere', DRIVE_FILES.formElsewhere.id, '502, reason redirect_refused: the confirmation leads to a foreign host'),
  stream('stalls', DRIVE_FILES.stalls.id, '200 whose bytes stop after 65,536; the connection is cut when time runs out'),
  stream('timeout', DRIVE_FILES.silent.id, '504'),
  link('success', { id: DRIVE_FILES.video.id, expires_in: 600 }, '200, a path that plays the clip without a key for ten minutes'),
  link('not_found', { id: 'sandbox-missing-01' }, '404'),
  link('not_video', { id: DRIVE_FILES.document.id }, '415, a PDF'),
  link('timeout', { id: DRIVE_FILES.silent.id }, '504'),
  thumbnail('success', DRIVE_FILES.video.id, '200, a PNG of 320 × 180 pixels', { size: 320 }),
  thumbnail('success_json', DRIVE_FILES.video.id, '200, JSON with the picture in base64', { format: 'json' }),
  thumbnail('not_found', 'sandbox-missing-01', '404'),
  thumbnail('no_thumbnail', DRIVE_FILES.withoutThumbnail.id, '404, the file has no thumbnail'),
  thumbnail('not_video', DRIVE_FILES.document.id, '415, a PDF'),
  thumbnail('timeout', DRIVE_FILES.silent.id, '504'),
];
