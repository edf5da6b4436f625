import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { driveExamples } from './drive-examples';
import { findDriveFile, type StoredFile } from './drive-files';
import { sendMedia } from './drive-media';
import { confirmationPage, missingPage, oddPage, quotaPage } from './drive-pages';
import { drawPicture } from './drive-picture';
import { neverAnswer, type SandboxUpstream } from '../sandbox-upstream';

/** Nothing listens there; a client that follows is caught. */
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

/** Numbers are text where the real one sends text; only the asked fields. */
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

/** The old address of keyless downloads: it sends everybody on. */
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

/** Google Drive: the v3 API below `/api`, keyless downloads and thumbnails below `/web`, and the hosts that they send clients on to. */
export function createDrive(): SandboxUpstream {
  return { name: 'drive', examples: driveExamples, routes };
}
