import { createTransport } from 'nodemailer';
import { type MailSender } from './mail';

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
        const code: unknown = cause instanceof Error ? Reflect.get(cause, 'code') : undefined;
        // The server's answer may quote the mail or its address.
        throw new Error(`the SMTP server did not take a mail (${typeof code === 'string' ? code : 'unknown reason'})`);
      }
    },
    close: () => transport.close(),
  };
}
