import { once } from 'node:events';
import { Readable } from 'node:stream';
import { type FastifyReply, type FastifyRequest } from 'fastify';
import { type StoredFile } from './drive-files';

const STALLS_AFTER_BYTES = 65_536;

/** First and last place of a single range; undefined for none or one that is not understood; `none` when nothing of it exists. */
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

/** RFC 5987, as Google names its downloads. */
function dispositionOf(name: string): string {
  const plain = name.replace(/[^\x20-\x7e]|["\\]/g, '_');
  return `attachment; filename="${plain}"; filename*=UTF-8''${encodeURIComponent(name)}`;
}

/** Answers the bytes of a file, a range of them when asked. */
export function sendMedia(file: StoredFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
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
