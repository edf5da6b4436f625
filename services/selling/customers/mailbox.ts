import { createHmac } from 'node:crypto';

/** Providers of mail that ignore dots in the part before the `@`, by the name under which they are counted. */
const DOTLESS: Readonly<Record<string, string>> = { 'gmail.com': 'gmail.com', 'googlemail.com': 'gmail.com' };

/** One spelling for all addresses of a mailbox: lower case, without a `+` suffix, and without dots if the provider ignores them. */
export function mailboxOf(email: string): string {
  const [name = '', domain = ''] = email.trim().toLowerCase().split('@');
  const [plain = ''] = name.split('+');
  const same = DOTLESS[domain];
  return same === undefined ? `${plain}@${domain}` : `${plain.replaceAll('.', '')}@${same}`;
}

/**
 * Names mailboxes by a hash that reveals no address.
 * @param secret the installation's; another secret changes every name
 */
export function createMailboxNames(secret: string): (email: string) => string {
  return (email) =>
    createHmac('sha256', secret)
      .update(`mailbox\0${mailboxOf(email)}`)
      .digest('base64url');
}
