import { createTransport } from 'nodemailer';
import { type Pool } from 'pg';
import { writeOutboxMail } from '../../../../plugins/stores/postgres/customers/outbox-mail';
import { type Log } from '../../../kit/log';
import { codeOf } from '../../../kit/error-code';

/** What is sent: text only. Its links sign somebody in, so that it must never be logged. */
export interface Mail {
  readonly to: string;
  readonly subject: string;
  readonly text: string;
}

/** Of an installation that has no name of its own. */
export const PLAIN_NAME = 'Tollgate';

/** How mail leaves the dashboard. */
export interface MailSender {
  /** What the installation calls itself in its mails; {@link PLAIN_NAME} unless given. */
  readonly installation?: string;
  /** @throws Error when the mail could not be handed over; the message holds nothing of it */
  send(mail: Mail): Promise<void>;
  close(): void;
}

const TIMEOUT_MS = 10_000;

/**
 * Sends through an SMTP server.
 * @param url `smtp://user:password@host:port`, or `smtps:`; plain `smtp:` switches to TLS when the server offers it
 * @param from sender's address
 */
export function createSmtpSender(url: string, from: string): MailSender {
  const timeouts = { connectionTimeout: TIMEOUT_MS, greetingTimeout: TIMEOUT_MS, socketTimeout: TIMEOUT_MS };
  // disableFileAccess and disableUrlAccess: a mail is text and never fetches anything.
  const transport = createTransport({ url, pool: true, maxConnections: 2, ...timeouts, disableFileAccess: true, disableUrlAccess: true });
  return {
    async send({ to, subject, text }) {
      try {
        await transport.sendMail({ from, to, subject, text });
      } catch (cause) {
        // The server's answer may quote the mail or its address.
        throw new Error(`the SMTP server did not take a mail (${codeOf(cause) || 'unknown reason'})`);
      }
    },
    close: () => transport.close(),
  };
}

/** Sends nothing: mail lies in the database and is read on a page. For an installation that only its developer can reach. */
export function createOutboxSender(db: Pool, { log, pageUrl }: { log: Log; pageUrl: string }): MailSender {
  return {
    async send(mail) {
      await writeOutboxMail(db, mail);
      log.info({ page: pageUrl }, 'a mail lies in the outbox');
    },
    close: () => undefined,
  };
}
