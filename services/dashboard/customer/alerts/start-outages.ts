import type { Pool } from 'pg';
import { claimOutageMail, settleOutageMail } from '../../../selling/outages/claim-outage-mails';
import { pruneOutages, watchOutages } from '../../../selling/outages/watch-outages';
import type { Log } from '../../../kit/log';
import type { MailSender, Mail } from '../../http/dashboard-deps';
import type { OutageView } from '../../../selling/outages/list-outages';
import { mailedMoment } from './alert-text';

export interface OutageWorkOptions {
  readonly db: Pool;
  readonly log: Log;
  readonly mail: MailSender;
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
  /** The dashboard's own URL. */
  readonly url: string;
  /** Milliseconds between two looks at the responses of products. Default 10 s: responses are counted every five. */
  readonly watchMs?: number;
}

/** Longer than a mail may take. Then another process may try. */
const RETRY_SECONDS = 300;
const WATCH_MS = 10_000;
/** Rare, because outages are few. */
const PRUNE_EVERY_MS = 3_600_000;

async function sendMails({ db, mail, timeZone, url }: OutageWorkOptions): Promise<void> {
  for (let claimed = await claimOutageMail(db, RETRY_SECONDS); claimed; claimed = await claimOutageMail(db, RETRY_SECONDS)) {
    const text = outageMail(claimed.outage, { timeZone, url });
    for (const to of claimed.to) await mail.send({ ...text, to });
    await settleOutageMail(db, claimed);
  }
}

/** Watches products for outages and mails operators. Any number of processes may do so at once: each outage is mailed once. */
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

interface OutageMailOptions {
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
  /** The dashboard's own URL. */
  readonly url: string;
}

const count = (requests: number): string => requests.toLocaleString('en-US');

/** The mail to an operator about a product that fails, or that works again. */
function outageMail(outage: OutageView, { timeZone, url }: OutageMailOptions): Omit<Mail, 'to'> {
  const { product, title, beganAt, endedAt, answered, failed } = outage;
  const since = mailedMoment(beganAt, timeZone);
  const figures = `${count(failed)} of ${count(answered)} answers had a status of 500 to 599`;
  const page = `${url}/operator/requests?product=${product}&status=5xx`;
  if (endedAt === null) {
    return {
      subject: `${title} is failing`,
      text: `${title} (${product}) has been failing since ${since}: ${figures}.\n\nThe failed requests: ${page}\n`,
    };
  }
  return {
    subject: `${title} has recovered`,
    text: `${title} (${product}) was failing from ${since} to ${mailedMoment(endedAt, timeZone)}: ${figures} in that time.\n\nThe failed requests: ${page}\n`,
  };
}
