/**
 * The parts of a count. Each only grows and has one author, so two views of a part merge by taking the larger one, in any order and any
 * number of times. That is how Redis and PostgreSQL agree again after either was away.
 */
export interface UsageParts {
  /** Units granted through Redis. Redis is the author; PostgreSQL keeps what nodes saw of them. */
  readonly redis: number;
  /** Units granted by PostgreSQL, which is the author. */
  readonly postgres: number;
  /** Units given back. PostgreSQL is the author, because only it knows every request id that was refunded. */
  readonly refunded: number;
}

export const NO_USAGE: UsageParts = { redis: 0, postgres: 0, refunded: 0 };

/** A store's knowledge of one subscription on one day and in that day's month. */
export interface SubscriptionUsage {
  readonly subscriptionId: string;
  /** `YYYY-MM-DD` in the quota time zone. */
  readonly day: string;
  readonly ofDay: UsageParts;
  readonly ofMonth: UsageParts;
}

/** Units that count against a limit; never negative. */
export function usedOf(parts: UsageParts): number {
  return Math.max(0, parts.redis + parts.postgres - parts.refunded);
}

/** True when `a` holds a unit that `b` does not. */
function knowsMore(a: UsageParts, b: UsageParts): boolean {
  return a.redis > b.redis || a.postgres > b.postgres || a.refunded > b.refunded;
}

/** Redis's counts as this node saw them and has not yet written to PostgreSQL. Bounded by the subscriptions used between two writes. */
export class SeenUsage {
  /** One entry for each day; there are several only around midnight. */
  private changed = new Map<string, SubscriptionUsage[]>();
  private inWriting = new Map<string, SubscriptionUsage[]>();

  record(usage: SubscriptionUsage): void {
    const known = this.changed.get(usage.subscriptionId);
    if (!known) {
      this.changed.set(usage.subscriptionId, [usage]);
      return;
    }
    const index = known.findIndex((each) => each.day === usage.day);
    const same = known[index];
    if (!same) known.push(usage);
    // An emptied Redis counts less than before, so the larger figure is kept.
    else if (usage.ofDay.redis >= same.ofDay.redis) known[index] = usage;
  }

  /** Figures of this subscription that PostgreSQL may not know yet. */
  find(subscriptionId: string): readonly SubscriptionUsage[] {
    const changed = this.changed.get(subscriptionId);
    const inWriting = this.inWriting.get(subscriptionId);
    if (changed && inWriting) return [...inWriting, ...changed];
    return changed ?? inWriting ?? [];
  }

  /** Returns all changes. {@link find} keeps showing them until {@link finishWriting}. */
  startWriting(): SubscriptionUsage[] {
    this.inWriting = this.changed;
    this.changed = new Map();
    return [...this.inWriting.values()].flat();
  }

  finishWriting(unwritten: readonly SubscriptionUsage[]): void {
    this.inWriting = new Map();
    for (const usage of unwritten) this.record(usage);
  }
}

/** The part of a pino logger that the stores use. */
export interface StoreLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface UsageWriterOptions {
  readonly seen: SeenUsage;
  /**
   * Stores the larger figures and returns what PostgreSQL then knows, in the same order.
   * @throws when nothing was stored
   */
  readonly sync: (seen: readonly SubscriptionUsage[]) => Promise<readonly SubscriptionUsage[]>;
  /** Called with figures that PostgreSQL knows and Redis does not. */
  readonly onNews: (usage: SubscriptionUsage) => Promise<void>;
  readonly log: StoreLog;
}

const INTERVAL_MS = 1_000;
/** Rows in one statement. */
const CHUNK = 1_000;

/** Every second, writes to PostgreSQL what this node saw of Redis's counts. A node that is killed loses at most a second of them. */
export class UsageWriter {
  private timer: NodeJS.Timeout | undefined;
  private current: Promise<void> | undefined;
  private isFailing = false;
  rowsWritten = 0;

  constructor(private readonly options: UsageWriterOptions) {}

  start(): void {
    this.timer = setInterval(() => void this.flush(), INTERVAL_MS);
    this.timer.unref();
  }

  /** Writes everything known so far. Never throws: figures that could not be written are kept for the next flush. */
  async flush(): Promise<void> {
    // A running write holds only figures from before it began, so a caller that joins late waits for another write.
    if (this.current) await this.current;
    this.current ??= this.write().finally(() => (this.current = undefined));
    await this.current;
  }

  async stop(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  private async write(): Promise<void> {
    const { seen, sync, log } = this.options;
    const all = seen.startWriting();
    let written = 0;
    const news: SubscriptionUsage[] = [];
    try {
      for (; written < all.length; written += CHUNK) {
        const chunk = all.slice(written, written + CHUNK);
        const known = await sync(chunk);
        news.push(...known.filter((usage, index) => isNews(usage, chunk[index])));
        this.rowsWritten += chunk.length;
      }
      if (this.isFailing) log.info({}, 'usage is written to PostgreSQL again');
      this.isFailing = false;
    } catch {
      if (!this.isFailing) log.warn({ rows: all.length - written }, 'usage cannot be written to PostgreSQL; it is kept and written later');
      this.isFailing = true;
    } finally {
      seen.finishWriting(all.slice(written));
    }
    // A failed merge is repeated with the subscription's next change.
    await Promise.all(news.map((usage) => this.options.onNews(usage).catch(() => undefined)));
  }
}

function isNews(known: SubscriptionUsage, seen: SubscriptionUsage | undefined): boolean {
  return seen !== undefined && (knowsMore(known.ofDay, seen.ofDay) || knowsMore(known.ofMonth, seen.ofMonth));
}
