import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { type FastifyInstance } from 'fastify';
import { ServiceError } from '../../../kit/errors';
import { JSON_TYPE } from '../../../kit/service/reply';

interface Document {
  readonly revision: string;
  readonly text: string;
  readonly compressed: Buffer;
  /** Weak: the same for both encodings. */
  readonly tag: string;
}

/** Where the document comes from. */
export interface DocumentSource {
  /** Another text whenever the document is another; asked at every request. */
  revision(): Promise<string>;
  /** The document's text. */
  read(): Promise<string>;
}

async function makeDocument(source: DocumentSource, revision: string): Promise<Document> {
  try {
    const text = await source.read();
    const tag = `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"`;
    return { revision, text, compressed: gzipSync(text), tag };
  } catch (cause) {
    throw new ServiceError('service_not_ready', { detail: 'The description of the API is not built.', cause });
  }
}

const isKnown = (header: string | undefined, tag: string): boolean =>
  (header ?? '').split(',').some((each) => each.trim() === '*' || each.trim().replace(/^(?!W\/)/, 'W/') === tag);

/** Where and how a document is served. */
export interface DocumentPlace {
  readonly path: string;
  /** A new version is served as soon as it is installed: copies are asked about before each use, unless this says otherwise. */
  readonly cacheControl?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** A JSON document for everybody. What was read last is served while its source is away. */
export function serveDocument(app: FastifyInstance, source: DocumentSource, place: DocumentPlace): void {
  const { path, cacheControl = 'public, no-cache', headers = {} } = place;
  let known: Document | undefined;
  let making: { readonly revision: string; readonly made: Promise<Document> } | undefined;
  /** Once for all who ask while it is made. */
  const make = async (revision: string): Promise<Document> => {
    if (making?.revision !== revision) making = { revision, made: makeDocument(source, revision) };
    try {
      return (known = await making.made);
    } finally {
      making = undefined;
    }
  };
  app.get(path, async (request, reply) => {
    const revision = await source.revision().catch((cause: unknown) => {
      if (known) return known.revision;
      throw new ServiceError('service_not_ready', { cause });
    });
    const { text, compressed, tag } = known?.revision === revision ? known : await make(revision);
    reply.headers({ ETag: tag, 'Cache-Control': cacheControl, Vary: 'Accept-Encoding', ...headers });
    if (isKnown(request.headers['if-none-match'], tag)) return reply.code(304).send();
    reply.header('Content-Type', JSON_TYPE);
    if (!/\bgzip\b/.test(request.headers['accept-encoding'] ?? '')) return reply.send(text);
    return reply.header('Content-Encoding', 'gzip').send(compressed);
  });
}
