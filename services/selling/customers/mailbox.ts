import { createHmac } from 'node:crypto';

/** Providers of mail that ignore dots in the part before the `@`, by the name under which they are counted. */
const DOTLESS: Readonly<Record<string, string>> = { 'gmail.com': 'gmail.com', 'googlemail.com': 'gmail.com' };

/** One spelling of all addresses that lead to one mailbox: small letters, nothing from a `+` on, and no dots where they do not count. */
export function mailboxOf(email: string): string {
  const [name = '', domain = ''] = email.trim().toLowerCase().split('@');
  const [plain = ''] = name.split('+');
  const same = DOTLESS[domain];
  return same === undefined ? `${plain}@${domain}` : `${plain.replaceAll('.', '')}@${same}`;
}

/** Names mailboxes by a hash that tells no address. @param secret the installation's; with another one every mailbox is new */
export function createMailboxNames(secret: string): (email: string) => string {
  return (email) =>
    createHmac('sha256', secret)
      .update(`mailbox\0${mailboxOf(email)}`)
      .digest('base64url');
}
