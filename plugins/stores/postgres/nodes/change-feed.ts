import { setTimeout as sleep } from 'node:timers/promises';
import { type Clock, systemClock } from '../../../core/ports';
import { type Change, type ChangeFeed } from '../../cache/change-feed';
import { type ClockSample } from '../../store-clock';
import { ChangeListener } from './change-listener';

export interface PostgresChangeFeedOptions {
  readonly url: string;
  readonly clock?: Clock;
  /** Milliseconds between two checks that the connection still lives. Default 250 ms. */
  readonly heartbeatMs?: number;
  /** Milliseconds after which a missing reply makes the feed unhealthy. Default 250 ms. */
  readonly deadlineMs?: number;
  /** Takes the database's clock with every reply. */
  readonly onTime?: (sample: ClockSample) => void;
  /** Milliseconds without a reply after which the connection is replaced. Default 2 s. */
  readonly abandonMs?: number;
}

/**
 * Milliseconds between two checks while somebody waits to be caught up. A flood of such callers costs the database 500 trivial queries a
 * second.
 */
const PROOF_EVERY_MS = 2;
const FIRST_BACKOFF_MS = 50;
const MAX_BACKOFF_MS = 1_000;

/** The callers that wait for the same check. */
interface Proof {
  readonly isCaughtUp: Promise<boolean>;
  readonly settle: (isCaughtUp: boolean) => void;
}

function createProof(deadlineMs: number): Proof {
  let settle: Proof['settle'] = () => undefined;
  const isCaughtUp = new Promise<boolean>((done) => (settle = done));
  const timer = setTimeout(settle, deadlineMs, false);
  void isCaughtUp.then(() => clearTimeout(timer));
  return { isCaughtUp, settle };
}

/**
 * Listens to the NOTIFYs of the schema's triggers on its own connection. PostgreSQL delivers committed changes before it replies to a later
 * query, so the reply to a heartbeat proves that nothing from before it is missing. It starts at once and never gives up.
 */
export class PostgresChangeFeed implements ChangeFeed {
  private readonly clock: Clock;
  private readonly heartbeatMs: number;
  private readonly deadlineMs: number;
  private readonly listeners = new Set<(change: Change) => void>();
  private readonly closing = new AbortController();
  private readonly ended: Promise<void>;
  private listener: ChangeListener | undefined;
  private healthyAt = -Infinity;
  /** Callers that wait for the next check, because the running one began before they came. */
  private waiting: Proof | undefined;
  private backoffMs = FIRST_BACKOFF_MS;

  constructor(private readonly options: PostgresChangeFeedOptions) {
    this.clock = options.clock ?? systemClock;
    this.heartbeatMs = options.heartbeatMs ?? 250;
    this.deadlineMs = options.deadlineMs ?? 250;
    this.ended = this.listenForEver();
  }

  /** Compares the clock, because a timer would be late exactly when this process is. */
  isHealthy(): boolean {
    return this.listener?.isHeard === true && this.clock.monotonic() - this.healthyAt <= this.heartbeatMs + this.deadlineMs;
  }

  lastHealthyAt(): number {
    return this.healthyAt;
  }

  caughtUp(): Promise<boolean> {
    if (!this.isHealthy()) return Promise.resolve(false);
    if (!this.waiting) {
      this.waiting = createProof(this.deadlineMs);
      this.listener?.wake();
    }
    return this.waiting.isCaughtUp;
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Ends the connection for good. */
  async close(): Promise<void> {
    this.closing.abort();
    this.listener?.close();
    await this.ended;
  }

  private async listenForEver(): Promise<void> {
    const { signal } = this.closing;
    while (!signal.aborted) {
      await this.listenOnce().catch(() => undefined);
      // Spread out, so that many nodes do not come back at the same time.
      const pauseMs = this.backoffMs * (0.5 + Math.random() / 2);
      this.backoffMs = Math.min(this.backoffMs * 2, MAX_BACKOFF_MS);
      await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
    }
  }

  /**
   * Listens until the connection is lost.
   * @throws Error then
   */
  private async listenOnce(): Promise<never> {
    const { url, abandonMs = 2_000, onTime } = this.options;
    const listener = new ChangeListener({ url, clock: this.clock, abandonMs, onChange: (change) => this.tell(change) });
    this.listener = listener;
    let asked: Proof | undefined;
    try {
      await listener.listen();
      this.backoffMs = FIRST_BACKOFF_MS;
      // From here on every change is reported. Earlier changes may have been missed.
      this.tell({ kind: 'gap' });
      for (;;) {
        asked = this.takeWaiting();
        const sample = await listener.askTime();
        onTime?.(sample);
        this.healthyAt = sample.askedAt;
        asked?.settle(true);
        await this.rest(listener, sample.askedAt);
      }
    } finally {
      asked?.settle(false);
      this.takeWaiting()?.settle(false);
      listener.close();
    }
  }

  private takeWaiting(): Proof | undefined {
    const { waiting } = this;
    this.waiting = undefined;
    return waiting;
  }

  /** Waits until the next check is due, which is sooner when somebody waits for it. */
  private async rest(listener: ChangeListener, askedAt: number): Promise<void> {
    const left = (ms: number): number => ms - (this.clock.monotonic() - askedAt);
    if (!this.waiting) await listener.rest(left(this.heartbeatMs));
    if (this.waiting) await listener.rest(left(PROOF_EVERY_MS));
  }

  private tell(change: Change): void {
    for (const listener of this.listeners) listener(change);
  }
}
