import { type Pool } from 'pg';
import { claimOutageMail, settleOutageMail } from '../../../selling/outages/claim-outage-mails';
import { pruneOutages, watchOutages } from '../../../selling/outages/watch-outages';
import { type Log } from '../../../kit/log';
import { type MailSender } from '../../http/dashboard-deps';
import { outageMail } from './outage-mail';

export interface OutageWorkOptions {
  readonly db: Pool;
  readonly log: Log;
  readonly mail: MailSender;
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
  /** The dashboard's own URL. */
  readonly url: string;
  /** Between two looks at what products answered. Default 10 s: answers are counted every five. */
  readonly watchMs?: number;
}

/** Longer than a mail may take; then another process may try. */
const RETRY_SECONDS = 300;
const WATCH_MS = 10_000;
/** Outages are few. */
const PRUNE_EVERY_MS = 3_600_000;

async function sendMails({ db, mail, timeZone, url }: OutageWorkOptions): Promise<void> {
  for (let claimed = await claimOutageMail(db, RETRY_SECONDS); claimed; claimed = await claimOutageMail(db, RETRY_SECONDS)) {
    const text = outageMail(claimed.outage, { timeZone, url });
    for (const to of claimed.to) await mail.send({ ...text, to });
    await settleOutageMail(db, claimed);
  }
}

/** Watches products for outages and mails operators. Any number of processes may do so at once: each outage is told once. */
export function startOutages(options: OutageWorkOptions): { close(): Promise<void> } {
  const { db, log, timeZone, watchMs = WATCH_MS } = options;
  let running: Promise<void> | undefined;
  let pruning: Promise<void> | undefined;

  async function watch(): Promise<void> {
    for (const { product, change } of await watchOutages(db, { timeZone })) {
      if (change === 'began') log.warn({ product }, 'a product is failing');
      else log.info({ product }, 'a product has recovered');
    }
    await sendMails(options);
  }

  const timers = [
    setInterval(() => {
      running ??= watch()
        .catch((err: unknown) => log.warn({ err }, 'outages of products could not be looked at, or not be mailed'))
        .finally(() => (running = undefined));
    }, watchMs).unref(),
    setInterval(() => {
      pruning ??= pruneOutages(db)
        .catch((err: unknown) => log.warn({ err }, 'old outages could not be deleted'))
        .finally(() => (pruning = undefined));
    }, PRUNE_EVERY_MS).unref(),
  ];
  return {
    async close() {
      for (const timer of timers) clearInterval(timer);
      await Promise.all([running, pruning]);
    },
  };
}
