import { webcrypto } from 'node:crypto';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { type Clock } from '../../../plugins/core/ports';
import { ServiceError } from '../../kit/errors';
import { JSON_TYPE } from '../../kit/service/reply';

const compress = promisify(gzip);

/** A stored text with what its responses need. */
export interface KeptDocument {
  readonly revision: string;
  readonly bytes: Buffer<ArrayBuffer>;
  readonly compressed: Buffer;
  /** Weak, because both encodings share it. */
  readonly tag: string;
}

/** Where the document comes from. */
export interface DocumentSource {
  /** A text that changes whenever the document changes; read on every request. */
  revision(): Promise<string>;
  /** The document's text, as bytes where it is long. */
  read(): Promise<string | Uint8Array<ArrayBuffer>>;
}

/** How often the database is asked, however often strangers ask for the document. */
const ASKED_AGAIN_MS = 1_000;

/** Reads the revision at most once a second, once for all who ask meanwhile: a flood of requests must not become a flood of queries. */
export function askSeldom(ask: () => Promise<string>, { monotonic }: Pick<Clock, 'monotonic'>): () => Promise<string> {
  let asked: { readonly atMs: number; readonly revision: Promise<string> } | undefined;
  return () => {
    const nowMs = monotonic();
    if (!asked || nowMs - asked.atMs >= ASKED_AGAIN_MS) asked = { atMs: nowMs, revision: ask() };
    return asked.revision;
  };
}

async function makeDocument(source: DocumentSource, revision: string): Promise<KeptDocument> {
  try {
    const read = await source.read();
    const bytes = typeof read === 'string' ? Buffer.from(read) : Buffer.from(read.buffer, read.byteOffset, read.length);
    // Long documents are hashed and compressed off the event loop.
    const [hash, compressed] = await Promise.all([webcrypto.subtle.digest('SHA-256', bytes), compress(bytes)]);
    return { revision, bytes, compressed, tag: `W/"${Buffer.from(hash).toString('base64url').slice(0, 22)}"` };
  } catch (cause) {
    throw new ServiceError('service_not_ready', { detail: 'The description of the API is not built.', cause });
  }
}

/**
 * The present document, made once for each revision. The last one read is served while its source is away.
 * @throws ServiceError 503 `service_not_ready` while there is none
 */
export function keepDocument(source: DocumentSource): () => Promise<KeptDocument> {
  let known: KeptDocument | undefined;
  let making: { readonly revision: string; readonly made: Promise<KeptDocument> } | undefined;
  return async () => {
    const revision = await source.revision().catch((cause: unknown) => {
      if (known) return known.revision;
      throw new ServiceError('service_not_ready', { cause });
    });
    if (known?.revision === revision) return known;
    if (making?.revision !== revision) making = { revision, made: makeDocument(source, revision) };
    try {
      return (known = await making.made);
    } finally {
      making = undefined;
    }
  };
}

const isKnown = (header: string | undefined, tag: string): boolean =>
  (header ?? '').split(',').some((each) => each.trim() === '*' || each.trim().replace(/^(?!W\/)/, 'W/') === tag);

/** Sends a document, compressed if the client accepts that, or 304 if the client has it. */
export function sendDocument(
  request: FastifyRequest,
  reply: FastifyReply,
  { document, headers }: { readonly document: KeptDocument; readonly headers: Readonly<Record<string, string>> },
): FastifyReply {
  const { bytes, compressed, tag } = document;
  const { 'Content-Type': contentType = JSON_TYPE, Vary: varies, ...others } = headers;
  reply.headers({ ETag: tag, Vary: varies === undefined ? 'Accept-Encoding' : `Accept-Encoding, ${varies}`, ...others });
  if (isKnown(request.headers['if-none-match'], tag)) return reply.code(304).send();
  reply.header('Content-Type', contentType);
  if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(bytes);
  return reply.header('Content-Encoding', 'gzip').send(compressed);
}

/** Where and how a document is served. */
export interface DocumentPlace {
  readonly path: string;
  /** Clients revalidate before each use, so that a new version is served as soon as it is installed; these headers may change that. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A JSON document for everybody. @param current see {@link keepDocument} */
export function serveDocument(app: FastifyInstance, current: () => Promise<KeptDocument>, { path, headers = {} }: DocumentPlace): void {
  app.get(path, async (request, reply) =>
    sendDocument(request, reply, { document: await current(), headers: { 'Cache-Control': 'public, no-cache', ...headers } }),
  );
}
