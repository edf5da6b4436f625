import { type Pool } from 'pg';
import { type Clock, type Decision, type DecisionLog, systemClock } from '../../../core/ports';
import { type DecisionWriterStats } from '../../../core/store-stats';
import { inTransaction } from '../database';
import { pruneAudit } from './prune-audit';
import { DecisionQueue, type Share } from './decision-queue';
import { DecisionTallies, type Tallied, touchLastUsed, writeTallies } from './decision-tallies';
import { pruneKeyHours } from './key-hours';
import { pruneDecisions } from './prune-decisions';
import { writeDecisions } from './write-decisions';

export interface DecisionWriterOptions {
  /** With a statement time-out, because a stopped server would delay `close`. */
  readonly pool: Pool;
  /** Default 400. */
  readonly auditRetentionDays?: number;
  /** Quota time zone; refusals are counted by its days. */
  readonly timeZone: string;
  readonly clock?: Clock;
  /** Maximum decisions that wait. Default 20,000. */
  readonly maxQueue?: number;
  /** Default 500 ms. */
  readonly flushMs?: number;
  /** Maximum rows written a second. Default 4,000. Further rows wait, and are dropped when the queue is full, admissions first. */
  readonly rowsPerSecond?: number;
  /**
   * Maximum admissions among them. Default 1,000: few people ask why a request passed, and each row costs the database as much as admitting
   * the request cost the plugin. A node that admits more logs the newest as a sample.
   */
  readonly admissionsPerSecond?: number;
  /**
   * Maximum refusals without a known key among them. Default 200: anybody can cause any number of them, and they would displace customers'
   * own rows.
   */
  readonly anonymousPerSecond?: number;
  /** Called when a flush failed. Its rows are written later. */
  readonly onError?: (error: unknown) => void;
}

const PRUNE_EVERY_MS = 3_600_000;
/** Milliseconds between two writes of key use, because a busy key's row need not change with every flush. */
const HOURS_EVERY_MS = 5_000;

/** Writes decisions and counts in the background, one transaction per flush, and afterwards the last use of keys. */
export class DecisionWriter implements DecisionLog {
  private readonly queue: DecisionQueue;
  private readonly tallies: DecisionTallies;
  private readonly onError: (error: unknown) => void;
  private readonly timers: readonly NodeJS.Timeout[];
  /** Rows that one flush may write. */
  private readonly share: Share;
  private readonly counts = { written: 0, refusedRows: 0, failures: 0 };
  private running: Promise<void> | undefined;
  private flushesUntilHours: number;

  constructor(private readonly options: DecisionWriterOptions) {
    const { pool, clock = systemClock, maxQueue = 20_000, flushMs = 500, auditRetentionDays = 400 } = options;
    const { rowsPerSecond = 4_000, admissionsPerSecond = 1_000, anonymousPerSecond = 200 } = options;
    const tallies = new DecisionTallies(options.timeZone);
    this.tallies = tallies;
    this.queue = new DecisionQueue(maxQueue, (decision) => tallies.noteUnlogged(decision));
    this.onError = options.onError ?? (() => undefined);
    const perFlush = (aSecond: number): number => Math.max(1, Math.round((aSecond * flushMs) / 1_000));
    this.share = { rows: perFlush(rowsPerSecond), admissions: perFlush(admissionsPerSecond), anonymous: perFlush(anonymousPerSecond) };
    const prune = (): void => {
      pruneDecisions(pool, { now: new Date(clock.now()) }).catch(this.onError);
      pruneKeyHours(pool, { now: new Date(clock.now()) }).catch(this.onError);
      pruneAudit(pool, { days: auditRetentionDays }).catch(this.onError);
    };
    const flushesBetween = Math.max(1, Math.round(HOURS_EVERY_MS / flushMs));
    this.flushesUntilHours = flushesBetween;
    const flush = (): void => {
      this.flushesUntilHours = this.flushesUntilHours > 1 ? this.flushesUntilHours - 1 : flushesBetween;
      void this.startFlush(this.share, { withHours: this.flushesUntilHours === flushesBetween });
    };
    this.timers = [setInterval(flush, flushMs), setInterval(prune, PRUNE_EVERY_MS)];
    for (const timer of this.timers) timer.unref();
  }

  record(decision: Decision): void {
    try {
      if (this.tallies.count(decision)) this.queue.add(decision);
    } catch (error) {
      this.onError(error);
    }
  }

  /** Writes waiting rows, up to one flush's share, after a flush that is running. Never throws. */
  async flush(): Promise<void> {
    await this.running;
    await this.startFlush(this.share, { withHours: true });
  }

  /** Ends the timers and makes one last attempt to write all. Never throws. */
  async close(): Promise<void> {
    for (const timer of this.timers) clearInterval(timer);
    await this.running;
    await this.startFlush({ rows: Infinity, admissions: Infinity, anonymous: Infinity }, { withHours: true });
  }

  stats(): DecisionWriterStats {
    const { written, refusedRows, failures } = this.counts;
    return {
      queued: this.queue.size,
      written,
      dropped: this.queue.dropped + refusedRows,
      droppedAnonymous: this.queue.droppedAnonymous,
      failures,
    };
  }

  /** One at a time, because the next flush must not overtake a slow one. */
  private startFlush(most: Share, tallies: { readonly withHours: boolean }): Promise<void> {
    this.running ??= this.flushOnce(most, tallies).finally(() => (this.running = undefined));
    return this.running;
  }

  private async flushOnce(most: Share, tallies: { readonly withHours: boolean }): Promise<void> {
    const decisions = this.queue.take(most);
    const tallied = this.tallies.take(tallies);
    if (decisions.length + tallied.denials.length + tallied.used.size + tallied.hours.length === 0) return;
    try {
      await inTransaction(this.options.pool, async (client) => {
        await writeDecisions(client, decisions);
        await writeTallies(client, tallied);
      });
      this.counts.written += decisions.length;
    } catch (error) {
      this.counts.failures += 1;
      // A value that PostgreSQL refuses fails every time. The rows are dropped, or the log would stand still.
      if (isDataError(error)) this.letGo(decisions);
      else this.queue.putBack(decisions);
      this.tallies.putBack(tallied);
      this.onError(error);
      return;
    }
    await this.writeUsed(tallied.used);
  }

  private async writeUsed(used: Tallied['used']): Promise<void> {
    try {
      await touchLastUsed(this.options.pool, used);
    } catch (error) {
      this.counts.failures += 1;
      this.tallies.putBack({ denials: [], used, hours: [] });
      this.onError(error);
    }
  }

  private letGo(decisions: readonly Decision[]): void {
    this.counts.refusedRows += decisions.length;
    for (const decision of decisions) this.tallies.noteUnlogged(decision);
  }
}

/** SQLSTATE classes 22 (data exception) and 23 (integrity constraint violation). */
function isDataError(error: unknown): boolean {
  const { code } = error as { code?: unknown };
  return typeof code === 'string' && /^2[23]/.test(code);
}
