import { type Pool } from 'pg';
import { writeOutboxMail } from '../../selling/customers/outbox-mail';
import { type Log } from '../../kit/log';
import { codeOf } from '../../kit/error-code';
import { type MailSender } from '../http/dashboard-deps';
import { dressMail } from './dress-mail';
import { type MailLook } from './mail-page';

const TIMEOUT_MS = 10_000;

/** Mail programs show a button that ends such mail (RFC 8058). */
const oneClick = (address: string) => ({ 'List-Unsubscribe': `<${address}>`, 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' });

/**
 * Sends through an SMTP server.
 * @param url `smtp://user:password@host:port`, or `smtps:`; plain `smtp:` switches to TLS when the server offers it
 * @param from sender's address
 * @param look the brand of a mail's HTML part
 */
export async function createSmtpSender(url: string, from: string, look: MailLook): Promise<MailSender> {
  const { createTransport } = await import('nodemailer');
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  // disableFileAccess and disableUrlAccess: a mail never fetches anything.
  const transport = createTransport({ url, pool: true, maxConnections: 2, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
  return {
    async send(mail) {
      const { to, subject, text, unsubscribe } = mail;
      const dressed = await dressMail(mail, look);
      try {
        await transport.sendMail({
          from,
          to,
          subject,
          text,
          ...dressed,
          ...(unsubscribe !== undefined && { headers: oneClick(unsubscribe) }),
        });
      } catch (cause) {
        // The server's response may quote the mail or its address.
        throw new Error(`the SMTP server did not take a mail (${codeOf(cause) || 'unknown reason'})`);
      }
    },
    close: () => transport.close(),
  };
}

/** Sends nothing: mail stays in the database and is read on a page. For an installation that only its developer can reach. */
export function createOutboxSender(db: Pool, { log, pageUrl }: { log: Log; pageUrl: string }): MailSender {
  return {
    async send(mail) {
      await writeOutboxMail(db, mail);
      log.info({ page: pageUrl }, 'a mail lies in the outbox');
    },
    close: () => undefined,
  };
}
