import { isIP } from 'node:net';
import { invalidInput } from '../../../kit/errors';
import { comparableUrl, hostOf, parseUrl, refuseHost, refuseUrl, registrableDomain, type UrlRefusal } from '../../../kit/pages/page-url';

const MESSAGES: Readonly<Record<UrlRefusal, string>> = {
  url_invalid: 'must be a whole URL such as https://example.com/page',
  scheme_refused: 'must start with http:// or https://',
  port_refused: 'must use port 80 or 443',
  userinfo_refused: 'must not hold a user name or password',
  address_refused: 'must lead to a public address',
};

/** @throws ServiceError 422 */
export function parsePageUrl(field: string, text: string): URL {
  const url = parseUrl(text.trim());
  const refusal = url ? refuseUrl(url) : 'url_invalid';
  if (!url || refusal) throw invalidInput([{ field, message: MESSAGES[refusal ?? 'url_invalid'] }], 422);
  return url;
}

/** @throws ServiceError 422 naming every wrong field */
export function parsePageUrls(field: string, texts: readonly string[]): URL[] {
  const urls = new Map<string, URL>();
  const errors = texts.flatMap((text, index) => {
    const url = parseUrl(text.trim());
    const refusal = url ? refuseUrl(url) : 'url_invalid';
    if (!url || refusal) return [{ field: `${field}.${index}`, message: MESSAGES[refusal ?? 'url_invalid'] }];
    urls.set(url.href, url);
    return [];
  });
  if (errors.length > 0) throw invalidInput(errors, 422);
  return [...urls.values()];
}

/**
 * A host name in ASCII, lower case.
 * @throws ServiceError 422
 */
export function parseDomain(field: string, text: string): string {
  const trimmed = text.trim();
  const url = /[/\\?#@:\s]/.test(trimmed) ? undefined : parseUrl(`http://${trimmed}/`);
  const host = url ? hostOf(url) : '';
  if (host === '' || isIP(host) !== 0 || !/^[a-z0-9_-]{1,63}(\.[a-z0-9_-]{1,63})*$/.test(host)) {
    throw invalidInput([{ field, message: 'must be a domain name such as example.com' }], 422);
  }
  const refusal = refuseHost(host);
  if (refusal) throw invalidInput([{ field, message: 'must be a public domain name' }], 422);
  return host;
}

/** The target of links: a whole domain, or one page of it. */
export interface Target {
  readonly host: string;
  /** The registered domain. */
  readonly domain: string;
  /** Undefined for a whole domain. */
  readonly page: URL | undefined;
}

/** @throws ServiceError 422 */
export function parseTarget(field: string, text: string): Target {
  if (!/^\s*[a-z][a-z0-9+.-]*:/i.test(text)) {
    const host = parseDomain(field, text);
    return { host, domain: registrableDomain(host), page: undefined };
  }
  const url = parsePageUrl(field, text);
  const host = hostOf(url);
  const isWhole = url.pathname === '/' && url.search === '';
  return { host, domain: registrableDomain(host), page: isWhole ? undefined : url };
}

/** True for links to the target: to the page, or for a whole domain to its host or a subdomain. */
export function isLinkTo({ host, page }: Target, link: URL): boolean {
  if (page) return comparableUrl(link) === comparableUrl(page);
  const wanted = host.replace(/^www\./, '');
  const linked = hostOf(link);
  return linked === wanted || linked.endsWith(`.${wanted}`);
}

/** The target as text. */
export function targetText({ host, page }: Target): string {
  return page?.href ?? host;
}
