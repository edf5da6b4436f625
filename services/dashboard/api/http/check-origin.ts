import { type FastifyRequest } from 'fastify';
import { Refusal } from './refusal';

const SAFE = new Set(['GET', 'HEAD', 'OPTIONS']);

/**
 * Changes are taken from our own pages only, whatever cookies come along: browsers send the Origin of the page with every request
 * that changes something, and no page can forge it. That the body must be JSON, which no form can send, is the parser's part.
 * @param ownOrigin for example `https://dashboard.example.com`
 * @throws Refusal 403 `forbidden`
 */
export function checkOrigin(request: FastifyRequest, ownOrigin: string): void {
  if (SAFE.has(request.method)) return;
  if (request.headers.origin !== ownOrigin) throw new Refusal('forbidden');
}
