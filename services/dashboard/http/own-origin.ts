import { type FastifyRequest } from 'fastify';
import { Refusal } from './refusal';

const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);
const LOOPBACK_NAMES = new Set(['localhost', '127.0.0.1', '[::1]']);

/**
 * Accepts changes from our own pages only, whatever cookies the request has. Browsers send the page's Origin with every request that
 * changes something, and no page can forge it. The body parser requires JSON, which no form can send.
 * @param ownOrigin for example `https://dashboard.example.com`
 * @throws Refusal 403 `forbidden`
 */
export function checkOrigin(request: FastifyRequest, ownOrigin: string): void {
  if (SAFE_METHODS.has(request.method)) return;
  if (request.headers.origin !== ownOrigin) throw new Refusal('forbidden');
}

/**
 * Another site can have its name resolve to this machine, and then read what needs no session. Its requests still carry that name.
 * @param hostname as the request has it, without a port
 * @param url the dashboard's own URL
 */
export function isOwnName(hostname: string, url: string): boolean {
  return hostname === new URL(url).hostname || LOOPBACK_NAMES.has(hostname);
}

/**
 * A browser treats `localhost` and `127.0.0.1` as two origins, of which only one is ours: a page opened under the other name could show
 * things but change none.
 * @param url the dashboard's own URL
 * @returns the same address under our own name; undefined when the request came to it, or to a name that is no alias of it
 */
export function ownAddress(request: FastifyRequest, url: string): string | undefined {
  const own = new URL(url);
  const asked = `http://${request.host}`;
  if (request.host === own.host || !URL.canParse(asked) || own.protocol !== 'http:') return undefined;
  const { hostname, port } = new URL(asked);
  const isAlias = LOOPBACK_NAMES.has(hostname) && LOOPBACK_NAMES.has(own.hostname) && port === own.port;
  return isAlias ? `${own.origin}${request.raw.url ?? '/'}` : undefined;
}
