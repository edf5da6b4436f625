import { getDomain } from 'tldts';
import { classifyAddress, isUnsafeTarget } from '../upstream/reserved-addresses';

/** Ports of http and https. */
const PORTS = new Set(['', '80', '443']);
/** Names that have a meaning only inside a network (RFC 6761, RFC 6762, RFC 8375, RFC 7686, ICANN's internal). */
const LOCAL_NAME = /(^|\.)(localhost|local|localdomain|internal|intranet|lan|home\.arpa|onion)$/;

export type UrlRefusal = 'url_invalid' | 'scheme_refused' | 'port_refused' | 'userinfo_refused' | 'address_refused';

/** Host without the brackets of an IPv6 literal and without the root's dot. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
}

/** The registered domain, or the host itself for addresses and public suffixes. */
export function registrableDomain(host: string): string {
  return getDomain(host) ?? host;
}

/** True for hosts of one owner. */
export function isSameSite(host: string, other: string): boolean {
  return registrableDomain(host) === registrableDomain(other);
}

/** Why a host is refused before it is looked up; undefined when it may be. The address is judged when connecting. */
export function refuseHost(host: string): UrlRefusal | undefined {
  const address = classifyAddress(host);
  if (address) return isUnsafeTarget(address) ? 'address_refused' : undefined;
  if (host.includes(':')) return 'url_invalid';
  return !host.includes('.') || LOCAL_NAME.test(host) ? 'address_refused' : undefined;
}

/** Why a URL is not fetched; undefined when its form allows it. */
export function refuseUrl(url: URL): UrlRefusal | undefined {
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'scheme_refused';
  if (url.username !== '' || url.password !== '') return 'userinfo_refused';
  if (!PORTS.has(url.port)) return 'port_refused';
  return refuseHost(hostOf(url));
}

/** One form for all URLs that show the same page. Scheme, `www.`, trailing slash and fragment do not count. */
export function comparableUrl(url: URL): string {
  return `${hostOf(url).replace(/^www\./, '')}${url.pathname.replace(/\/+$/, '')}${url.search}`;
}

/** @returns undefined when the text is no URL, even relative to the base */
export function parseUrl(text: string, base?: URL | string): URL | undefined {
  return URL.canParse(text, base?.toString()) ? new URL(text, base) : undefined;
}
