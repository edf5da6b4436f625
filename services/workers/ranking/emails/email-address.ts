import { parse } from 'tldts';

/** Hosts of mailboxes for people without a domain of their own. `yahoo` and similar names also occur with country endings. */
const MAILBOX_HOSTS = new Set([
  'aol.com', 'fastmail.com', 'gmail.com', 'gmx.at', 'gmx.com', 'gmx.de', 'gmx.net', 'googlemail.com', 'icloud.com', 'live.com', 'mac.com', 'mail.com',
  'mail.ru', 'me.com', 'msn.com', 'proton.me', 'protonmail.com', 'qq.com', 'rediffmail.com', 'web.de', 'yandex.com', 'yandex.ru', 'ymail.com',
  'zoho.com', 'zohomail.com', 'zohomail.in', '126.com', '163.com',
]); // prettier-ignore
const MAILBOX_BRANDS = new Set(['hotmail', 'outlook', 'yahoo']);

/** Length from RFC 5321, 4.5.3.1.1. The allowed characters are those in common use, not all that the RFC permits. */
const MAX_LOCAL = 64;
const LOCAL = /^[a-z0-9_](?:[a-z0-9._%+-]*[a-z0-9_+-])?$/;

/** The owner of a host: its registered domain, or the customer's own name below shared hosts such as `wixsite.com`. */
export function siteOf(host: string): string {
  return parse(host, { allowPrivateDomains: true }).domain ?? host;
}

function isMailboxHost(host: string): boolean {
  return MAILBOX_HOSTS.has(host) || MAILBOX_BRANDS.has(parse(host).domainWithoutSuffix ?? '');
}

/**
 * The address in lower case if it can belong to the site: at the site's own domain or a well-known mailbox host, and under a registered
 * top-level domain (`logo@2x.png` is not an address). Otherwise undefined.
 * @param site in the form of {@link siteOf}
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
