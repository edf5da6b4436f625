import { type Pool } from 'pg';
import { type Catalogue } from '../../../plugins/core/catalogue/catalogue';
import { type Clock } from '../../../plugins/core/ports';
import { type Log } from '../../kit/log';
import { claim, type OutboxItem, type OutboxKind, settle } from '../../selling/outbox/outbox';
import { type Mail, type MailSender } from '../http/dashboard-deps';

type MailKind = Exclude<OutboxKind, 'webhook'>;
const MAIL_KINDS: readonly MailKind[] = ['alerts', 'plan_answer', 'outage', 'status', 'invoice', 'payment'];

/** The mails for one item of the outbox. */
export interface WrittenMails {
  readonly mails: readonly Mail[];
  /** Replaces settling the item. */
  readonly settle?: () => Promise<void>;
}

/** What mails are written from. */
export interface MailTools {
  readonly db: Pool;
  readonly clock: Clock;
  /** Quota time zone, IANA name. */
  readonly timeZone: string;
  readonly catalogue: () => Promise<Catalogue>;
  /** Origin of the dashboard. */
  readonly url: string;
}

/** Undefined if the news is no longer true. */
export type WriteMails<K extends MailKind> = (
  item: OutboxItem<K>,
  tools: MailTools & { readonly name: string | undefined },
) => Promise<WrittenMails | undefined>;

export interface MailsOptions extends MailTools {
  readonly log: Log;
  readonly mail: MailSender;
  readonly write: { readonly [K in MailKind]?: WriteMails<K> };
  /** Pause between two looks. Default 5 s. */
  readonly everyMs?: number;
}

const EVERY_MS = 5_000;
/** Longer than sending takes. After that, any process tries again. */
const LEASE_MS = 300_000;
/** Addresses of deleted accounts; no mail reaches them. */
const ERASED = '@deleted.invalid';

/**
 * Mails what waits in the outbox. Any number of processes may do so: each item is claimed by one of them. No kind waits for another.
 * @returns `look` sends what is due now
 */
export function startMails(options: MailsOptions): { look(): Promise<void>; close(): Promise<void> } {
  const { db, log, mail, write, everyMs = EVERY_MS } = options;
  const working = new Map<MailKind, Promise<void>>();
  let isEnding = false;

  async function send<K extends MailKind>(kind: K): Promise<void> {
    const writeMails = write[kind];
    while (writeMails && !isEnding) {
      const item = await claim(db, { kind, leaseMs: LEASE_MS });
      if (!item) return;
      const written = item.isStale ? undefined : await writeMails(item, { ...options, name: mail.installation });
      for (const each of written?.mails ?? []) if (!each.to.endsWith(ERASED)) await mail.send(each);
      await (written?.settle ? written.settle() : settle(db, item));
    }
  }

  function lookFor(kind: MailKind): Promise<void> {
    const known = working.get(kind);
    if (known) return known;
    const work = send(kind)
      .catch((err: unknown) => log.warn({ err, kind }, 'a mail could not be sent; it is tried again'))
      .finally(() => working.delete(kind));
    working.set(kind, work);
    return work;
  }

  const look = async (): Promise<void> => void (await Promise.all(MAIL_KINDS.map(lookFor)));
  const timer = setInterval(() => void look(), everyMs).unref();
  return {
    look,
    async close() {
      isEnding = true;
      clearInterval(timer);
      await Promise.all(working.values());
    },
  };
}
