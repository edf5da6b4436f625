import { type Pool } from 'pg';
import { QuotaHours } from '../../../core/access/quota';
import { type Answer, AnswerCounts } from './answer-counts';

export interface AnswerWriterOptions {
  /** With a statement time-out, or a stopped server would hold up `close`. */
  readonly pool: Pick<Pool, 'query'>;
  /** Quota time zone: answers are counted by its hours, as requests are. */
  readonly timeZone: string;
  /** Default 5,000 ms: as often as requests by hour are written. */
  readonly flushMs?: number;
  /** Told when a flush failed; what it held is tried again. */
  readonly onError?: (error: unknown) => void;
}

const NOTE = { name: 'note-answers', text: 'SELECT note_answers($1::json)' };

/** Counts what product services answered, and writes the counts in the background: one statement a flush, one row for each key and product. */
export class AnswerWriter {
  private readonly counts = new AnswerCounts();
  private readonly hours: QuotaHours;
  private readonly timer: NodeJS.Timeout;
  private running: Promise<void> | undefined;

  constructor(private readonly options: AnswerWriterOptions) {
    this.hours = new QuotaHours(options.timeZone);
    this.timer = setInterval(() => void this.startFlush(), options.flushMs ?? 5_000);
    this.timer.unref();
  }

  /** Counted by the hour in which the service began with the request. Never throws. */
  note(answer: Answer): void {
    this.counts.count(answer, this.hours.at(answer.atMs));
  }

  /** Writes what was counted, after a flush that is already running. Never throws. */
  async flush(): Promise<void> {
    await this.running;
    await this.startFlush();
  }

  /** Ends the timer and makes one last attempt to write all. Never throws. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.flush();
  }

  private startFlush(): Promise<void> {
    this.running ??= this.flushOnce().finally(() => (this.running = undefined));
    return this.running;
  }

  private async flushOnce(): Promise<void> {
    const hours = this.counts.take();
    if (hours.length === 0) return;
    try {
      await this.options.pool.query({ ...NOTE, values: [JSON.stringify(hours)] });
    } catch (error) {
      this.counts.putBack(hours);
      this.options.onError?.(error);
    }
  }
}
