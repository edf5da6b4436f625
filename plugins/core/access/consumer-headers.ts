import { type Consumer } from './verdict';

/**
 * Headers with which Kong's authentication plugins name the caller to a service. A client might send any of them, also with underscores.
 */
const NAMES = ['id', 'username', 'custom-id', 'groups']
  .map((name) => `x-consumer-${name}`)
  .concat('x-credential-identifier', 'x-anonymous-consumer');

/** Headers about the consumer that a client must not set. */
export const CONSUMER_HEADERS: readonly string[] = [...NAMES, ...NAMES.map((name) => name.replaceAll('-', '_'))];

/** The headers with which Kong names an authenticated consumer to the service. */
export function consumerHeaders({ id, username, credentialId }: Consumer): Record<string, string> {
  return { 'x-consumer-id': id, 'x-consumer-username': username, 'x-credential-identifier': credentialId };
}
