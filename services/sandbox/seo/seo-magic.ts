import { createHash } from 'node:crypto';
import { type FastifyReply } from 'fastify';
import { neverAnswer, type SandboxExample } from '../sandbox-upstream';

/** Names that cause an outcome in a query, a keyword, a domain or a URL. */
export const MAGIC_NAMES = {
  /** Every upstream responds with 500, and the host closes connections. */
  failing: 'upstream-error.example',
  /** No upstream ever responds. */
  silent: 'timeout.example',
  /** Some upstreams respond with 500, others as usual. */
  partial: 'partial.example',
  /** No upstream knows anything about it. */
  unknown: 'unknown.example',
} as const;

/**
 * True if the text contains a magic name and the reply was therefore handled here.
 * @param isFragile true for the upstreams that fail for {@link MAGIC_NAMES}.partial
 */
export function playMagic(text: string, reply: FastifyReply, isFragile = false): boolean {
  const lower = text.toLowerCase();
  if (lower.includes(MAGIC_NAMES.silent)) {
    neverAnswer(reply);
    return true;
  }
  if (!lower.includes(MAGIC_NAMES.failing) && !(isFragile && lower.includes(MAGIC_NAMES.partial))) return false;
  void reply.code(500).send({ error: 'Internal Server Error' });
  return true;
}

export function isUnknown(text: string): boolean {
  return text.toLowerCase().includes(MAGIC_NAMES.unknown);
}

/** A number from 0 to below `below` that is always the same for the same text. */
export function numberFor(text: string, below: number): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) % below;
}

export function seoExample(route: string, outcome: string, input: Readonly<Record<string, unknown>>, yields: string): SandboxExample {
  return { product: 'api-seo', route: `/seo${route}`, method: 'POST', outcome, input, yields };
}
