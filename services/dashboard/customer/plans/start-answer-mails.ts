import { type Pool } from 'pg';
import { claimAnswer, settleAnswer } from '../../../selling/subscriptions/claim-answers';
import { type Log } from '../../../kit/log';
import { type MailSender } from '../../http/dashboard-deps';
import { answerMail } from './answer-mail';

export interface AnswerMailsOptions {
  readonly db: Pool;
  readonly log: Log;
  readonly mail: MailSender;
  /** Origin of the dashboard, for the link. */
  readonly url: string;
  /** Between two looks. Default 5 s. */
  readonly pollMs?: number;
}

/** Longer than a mail may take; then another process may try. */
const RETRY_SECONDS = 300;
const POLL_MS = 5_000;

/** Mails customers how their requests for plans were answered. Any number of processes may do so: each answer is claimed by one of them. */
export function startAnswerMails({ db, log, mail, url, pollMs = POLL_MS }: AnswerMailsOptions): { close(): Promise<void> } {
  let telling: Promise<void> | undefined;
  let closed = false;

  async function tell(): Promise<void> {
    for (let claimed = await claimAnswer(db, RETRY_SECONDS); claimed; claimed = await claimAnswer(db, RETRY_SECONDS)) {
      await mail.send({ ...answerMail(claimed.request, `${url}/plans`), to: claimed.to });
      await settleAnswer(db, claimed);
      if (closed) return;
    }
  }

  const timer = setInterval(() => {
    telling ??= tell()
      .catch((err: unknown) => log.warn({ err }, 'an answer to a request for a plan could not be mailed'))
      .finally(() => (telling = undefined));
  }, pollMs).unref();
  return {
    async close() {
      closed = true;
      clearInterval(timer);
      await telling;
    },
  };
}
