import { maskSecretsIn } from './secret-rules';

export const URL_SCHEMES = ['http://', 'https://'] as const;

/** The characters of RFC 3986, matched where a scheme stands. */
export const URL_PATTERN = /https?:\/\/[\w.~:/?#[\]@!$&'()*+,;=%-]{4,2000}/y;

/** Names of XML vocabularies, to which no app connects. */
const NAMESPACE_HOSTS = new Set([
  'schemas.android.com',
  'www.w3.org',
  'xmlpull.org',
  'ns.adobe.com',
  'java.sun.com',
  'xml.org',
  'www.xmlpull.org',
]);

/**
 * An address as it may be shown: without punctuation of the text around it, user information and secrets.
 * @returns undefined for format strings, name spaces and hosts that are no host
 */
export function cleanUrl(text: string): string | undefined {
  const trimmed = text.replace(/[.,;:!?'")\]]+$/, '');
  if (!URL.canParse(trimmed)) return undefined;
  const { hostname } = new URL(trimmed);
  const isHost = hostname.includes('.') || hostname === 'localhost' || hostname.startsWith('[');
  if (!isHost || NAMESPACE_HOSTS.has(hostname)) return undefined;
  return maskSecretsIn(trimmed.replace(/^(https?:\/\/)[^/?#]*@/, '$1********@'));
}
