import { type Pool } from 'pg';
import { writeOutboxMail } from '../../../../plugins/stores/postgres/customers/outbox-mail';
import { type Log } from '../../../kit/log';
import { type MailSender } from './mail';

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
