import { type Pool } from 'pg';
import { QuotaHours } from '../../../core/access/quota';
import { type Answer } from '../../../core/ports';
import { AnswerCounts } from './answer-counts';

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

const NOTE = { name: 'note-answers', text: 'SELECT note_answers($1::json), note_requests($2::json)' };
/** Of one flush: 1,000 a second, as many admitted requests as one node logs. What is above has counts alone. */
const MAX_REQUESTS = 5_000;

/** What one request was answered, for its line in the log. */
interface AnsweredRequest extends Pick<Answer, 'requestId' | 'status' | 'bytes' | 'units'> {
  readonly milliseconds: number;
  /** Monotonic. */
  readonly notedAtMs: number;
}

/** A node writes a line half a second after its decision. Before that there is none to add to. */
const LINE_WITHIN_MS = 2_000;

/**
 * Counts what requests were answered with, and writes the counts in the background: one statement a flush, one row for each key and product,
 * and with it the status, time and size of single answers, which are lost where the flush fails.
 */
export class AnswerWriter {
  private readonly counts = new AnswerCounts();
  private readonly hours: QuotaHours;
  private readonly timer: NodeJS.Timeout;
  private requests: AnsweredRequest[] = [];
  private running: Promise<void> | undefined;

  constructor(private readonly options: AnswerWriterOptions) {
    this.hours = new QuotaHours(options.timeZone);
    this.timer = setInterval(() => void this.startFlush(), options.flushMs ?? 5_000);
    this.timer.unref();
  }

  /** Counted by the hour of the decision. Never throws. */
  note(answer: Answer): void {
    this.counts.count(answer, this.hours.at(answer.atMs));
    const { requestId, status, bytes, elapsedMs, units } = answer;
    if (this.requests.length >= MAX_REQUESTS) return;
    this.requests.push({ requestId, status, bytes, units, milliseconds: Math.round(elapsedMs), notedAtMs: performance.now() });
  }

  /** Writes what was counted, after a flush that is already running. Never throws. */
  async flush(): Promise<void> {
    await this.running;
    await this.startFlush();
  }

  /** Ends the timer and makes one last attempt to write all. Never throws. */
  async close(): Promise<void> {
    clearInterval(this.timer);
    await this.running;
    await this.startFlush({ isLast: true });
  }

  private startFlush({ isLast = false } = {}): Promise<void> {
    this.running ??= this.flushOnce(isLast).finally(() => (this.running = undefined));
    return this.running;
  }

  private async flushOnce(isLast: boolean): Promise<void> {
    const hours = this.counts.take();
    const latest = isLast ? Infinity : performance.now() - LINE_WITHIN_MS;
    const requests = this.requests.filter(({ notedAtMs }) => notedAtMs <= latest);
    this.requests = this.requests.slice(requests.length);
    if (hours.length + requests.length === 0) return;
    try {
      await this.options.pool.query({ ...NOTE, values: [JSON.stringify(hours), JSON.stringify(requests)] });
    } catch (error) {
      this.counts.putBack(hours);
      this.options.onError?.(error);
    }
  }
}
