import { type StoreLog, type SubscriptionUsage, knowsMore } from './quota-parts';
import { type SeenUsage } from './quota-seen';

export interface UsageWriterOptions {
  readonly seen: SeenUsage;
  /** Keeps the larger figures and answers what Postgres then knows, in the order asked. @throws when nothing was kept */
  readonly sync: (seen: readonly SubscriptionUsage[]) => Promise<readonly SubscriptionUsage[]>;
  /** Called with what Postgres knows and Redis does not. */
  readonly onNews: (usage: SubscriptionUsage) => Promise<void>;
  readonly log: StoreLog;
}

const INTERVAL_MS = 1_000;
/** Rows in one statement. */
const CHUNK = 1_000;

/** Writes every second what this node saw of Redis's counts to Postgres: a node that is killed takes at most a second of it along. */
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

  /** Writes all that is known now. Never throws: what could not be written stays for the next time. */
  async flush(): Promise<void> {
    // What changes during a write is not part of it, so a caller that joins late waits for one more.
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
      if (this.isFailing) log.info({}, 'usage is written to Postgres again');
      this.isFailing = false;
    } catch {
      if (!this.isFailing) log.warn({ rows: all.length - written }, 'usage cannot be written to Postgres; it is kept and tried again');
      this.isFailing = true;
    } finally {
      seen.finishWriting(all.slice(written));
    }
    // A failed merge comes up again with the subscription's next change.
    await Promise.all(news.map((usage) => this.options.onNews(usage).catch(() => undefined)));
  }
}

function isNews(known: SubscriptionUsage, seen: SubscriptionUsage | undefined): boolean {
  return seen !== undefined && (knowsMore(known.ofDay, seen.ofDay) || knowsMore(known.ofMonth, seen.ofMonth));
}
