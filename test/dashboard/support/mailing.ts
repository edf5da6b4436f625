import { type Pool } from 'pg';
import { systemClock } from '../../../plugins/core/ports';
import { type Mail } from '../../../services/dashboard/http/dashboard-deps';
import { type MailsOptions, startMails } from '../../../services/dashboard/mail/start-mails';
import { createLog } from '../../../services/kit/log';
import { watchCatalogue } from '../../../services/selling/catalogue/watch-catalogue';

interface MailingOptions extends Pick<MailsOptions, 'write' | 'everyMs'>, Partial<Pick<MailsOptions, 'clock' | 'timeZone'>> {
  readonly send: (mail: Mail) => Promise<void> | void;
}

/** Mails what waits in the outbox, as a dashboard does. */
export function startMailing(db: Pool, { send, ...options }: MailingOptions): ReturnType<typeof startMails> {
  return startMails({
    db,
    log: createLog('test', { level: 'silent' }),
    clock: systemClock,
    timeZone: 'Asia/Kolkata',
    catalogue: watchCatalogue(db),
    url: 'http://dashboard.test',
    mail: { send: async (mail) => send(mail), close: () => undefined },
    ...options,
  });
}
