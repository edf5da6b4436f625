import { type Pool } from 'pg';
import { QuotaHours } from '../../../core/access/quota';
import { type Answer } from '../../../core/ports';
import { AnswerCounts } from './answer-counts';

export interface AnswerWriterOptions {
  /** With a statement time-out, because a stopped server would delay `close`. */
  readonly pool: Pick<Pool, 'query'>;
  /** Quota time zone. Responses are counted by its hours, like requests. */
  readonly timeZone: string;
  /** Milliseconds. Default 5,000: as often as requests by hour are written. */
  readonly flushMs?: number;
  /** Called when a flush failed. Its counts are written later. */
  readonly onError?: (error: unknown) => void;
}

const NOTE = { name: 'note-answers', text: 'SELECT note_answers($1::json), note_requests($2::json)' };
/** Maximum requests per flush: 1,000 a second, as many admitted requests as one node logs. Further requests are only counted. */
const MAX_REQUESTS = 5_000;

/** The response to one request, for its line in the log. */
interface AnsweredRequest extends Pick<Answer, 'requestId' | 'status' | 'bytes' | 'units' | 'isFromApi'> {
  readonly milliseconds: number;
  /** Monotonic milliseconds. */
  readonly notedAtMs: number;
}

/** A node writes a line half a second after its decision. Before that there is no line to extend. */
const LINE_WITHIN_MS = 2_000;

/**
 * Counts responses to requests, and writes the counts in the background: one statement for each flush, with one row for each key and
 * product. It also writes status, time and size of single responses, which are lost if the flush fails.
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

  /** Counts by the hour of the decision. Never throws. */
  note(answer: Answer): void {
    this.counts.count(answer, this.hours.at(answer.atMs));
    const { requestId, status, bytes, elapsedMs, units, isFromApi } = answer;
    if (this.requests.length >= MAX_REQUESTS) return;
    const milliseconds = Math.round(elapsedMs);
    this.requests.push({ requestId, status, bytes, units, isFromApi, milliseconds, notedAtMs: performance.now() });
  }

  /** Writes the counts, after a flush that is already running. Never throws. */
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
