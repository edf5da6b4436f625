import { parse } from 'tldts';

/** Where people without a domain of their own have their mail; `yahoo` and its like also with the endings of countries. */
const MAILBOX_HOSTS = new Set([
  'aol.com', 'fastmail.com', 'gmail.com', 'gmx.at', 'gmx.com', 'gmx.de', 'gmx.net', 'googlemail.com', 'icloud.com', 'live.com', 'mac.com', 'mail.com',
  'mail.ru', 'me.com', 'msn.com', 'proton.me', 'protonmail.com', 'qq.com', 'rediffmail.com', 'web.de', 'yandex.com', 'yandex.ru', 'ymail.com',
  'zoho.com', 'zohomail.com', 'zohomail.in', '126.com', '163.com',
]); // prettier-ignore
const MAILBOX_BRANDS = new Set(['hotmail', 'outlook', 'yahoo']);

/** RFC 5321, 4.5.3.1.1; what is allowed inside is what people use, not what the RFC permits. */
const MAX_LOCAL = 64;
const LOCAL = /^[a-z0-9_](?:[a-z0-9._%+-]*[a-z0-9_+-])?$/;

/** Who a host belongs to: its registered domain, and below shared hosts such as `wixsite.com` the customer's own name. */
export function siteOf(host: string): string {
  return parse(host, { allowPrivateDomains: true }).domain ?? host;
}

function isMailboxHost(host: string): boolean {
  return MAILBOX_HOSTS.has(host) || MAILBOX_BRANDS.has(parse(host).domainWithoutSuffix ?? '');
}

/**
 * The address in lower case when it can be the site's: at the site's own domain or a well-known mailbox, below a registered top-level
 * domain (`logo@2x.png` is none). Undefined otherwise.
 * @param site as {@link siteOf} names it
 */
export function plausibleAddress(text: string, site: string): string | undefined {
  const address = text.toLowerCase();
  const at = address.lastIndexOf('@');
  const [local, host] = [address.slice(0, at), address.slice(at + 1)];
  if (at < 1 || local.length > MAX_LOCAL || !LOCAL.test(local) || local.includes('..')) return undefined;
  const { domain, isIcann, isIp, hostname } = parse(host);
  if (isIp === true || isIcann !== true || domain === null || hostname !== host) return undefined;
  return siteOf(host) === site || isMailboxHost(host) ? address : undefined;
}
