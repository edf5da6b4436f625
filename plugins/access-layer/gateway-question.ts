import { createHash, timingSafeEqual } from 'node:crypto';
import { type RequestFacts } from '../core/access/request-variable';
import { type AccessInstance, type Verdict } from '../core/access/verdict';
import { type ReadOn } from '../core/problems';
import { askAccess, newRequestId, refusalOf } from './held-request';

/** Where an entrance listens: a unix socket, or an address in a network that only gateways can reach. */
export type ListenPlace = { readonly path: string } | { readonly host: string; readonly port: number };

/** The log of an entrance. */
export interface EntranceLog {
  error(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

/** Options of every entrance except Kong's. */
export interface EntrancePlace {
  /** A unix socket, whose permissions prove that a gateway asks; otherwise loopback or a private network, where `secret` proves it. */
  readonly listen: ListenPlace;
  /** Shared with the gateway; required on TCP. */
  readonly secret: string | undefined;
}

/**
 * Who caused it. `gateway`: its configuration leaves out what every decision needs. `client`: no gateway could forward this request safely.
 * `path`: no gateway could forward this path safely.
 */
export type UnreadableQuestion = { readonly fault: 'gateway' | 'client' | 'path'; readonly why: string; readonly requestId: string };

const REQUEST_ID = /^[\w-]{16,64}$/;

/** The gateway's request id if it is valid, otherwise a new one. */
export const requestIdOf = (given: unknown): string => (typeof given === 'string' && REQUEST_ID.test(given) ? given : newRequestId());

/** All headers by lower-cased name, as a list if repeated: Node's own parsing would drop a second Authorization. */
export function collectHeaders(pairs: Iterable<readonly [name: string, value: string]>): Record<string, string | string[]> {
  const headers: Record<string, string | string[]> = {};
  for (const [mixed, value] of pairs) {
    const name = mixed.toLowerCase();
    // `__proto__` is a legal header name.
    const before = Object.hasOwn(headers, name) ? headers[name] : undefined;
    headers[name] = before === undefined ? value : [before, value].flat();
  }
  return headers;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();

/** Recognises a gateway by its secret. The comparison takes the same time for a wrong secret. @throws Error on TCP without a secret */
export function createProof({ listen, secret }: EntrancePlace): (given: unknown) => boolean {
  if ('path' in listen) return () => true;
  if (secret === undefined) throw new Error('an entrance on TCP needs GATEWAY_SECRET');
  const expected = digest(secret);
  return (given) => timingSafeEqual(expected, digest(typeof given === 'string' ? given : ''));
}

interface Deciding {
  readonly findInstance: () => AccessInstance;
  readonly log: EntranceLog;
  readonly readOn: ReadOn | undefined;
}

/**
 * Decides on a gateway's parsed question.
 * @throws Error if `findInstance` does: the route makes no configuration
 */
export async function decideQuestion(
  question: RequestFacts | UnreadableQuestion,
  { findInstance, log, readOn }: Deciding,
): Promise<Verdict> {
  const { requestId } = question;
  if (!('fault' in question)) {
    const onError = (err: unknown): void => log.error({ err, requestId }, 'the request could not be decided and was refused');
    return askAccess(findInstance(), question, { onError, readOn });
  }
  if (question.fault !== 'gateway') {
    return refusalOf(question.fault === 'path' ? 'ambiguous_path' : 'request_not_readable', { requestId, detail: question.why, readOn });
  }
  log.error({ why: question.why }, 'the gateway’s configuration is not complete');
  return refusalOf('access_layer_unavailable', { requestId, readOn });
}
