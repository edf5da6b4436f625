import { type Clock, StoreUnavailable } from '../../core/ports';

/** How long a store may say nothing. */
export interface Silence {
  /** No reply of any kind for this long, while calls are open, means that the store is gone. */
  readonly silenceMs: number;
  /**
   * The same when this process was itself held up a moment ago: replies may be waiting unread, and a store on the same machine may not
   * have run either. Giving up a store that other nodes still use costs exactness, so a busy machine must not look like a dead store.
   */
  readonly heldUpSilenceMs: number;
}

export interface ReplyWatchOptions extends Silence {
  /** Names the store in errors. */
  readonly store: string;
  /** A single call may take this long even though others are answered. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** Called once when silence is found, after every open call was rejected. */
  readonly onSilence: () => void;
}

interface OpenCall {
  readonly since: number;
  isAbandoned: boolean;
  readonly abandon: (error: StoreUnavailable) => void;
}

const TICK_MS = 5;
/** A tick that comes this much late shows that the machine is busy. */
const LATE_MS = 2;
/** For this long after a late tick, the store gets the patience for a held-up machine: it may be waiting for the CPU as well. */
const LATE_MEMORY_MS = 200;

/**
 * Bounds how long calls wait for a store, and tells a silent store from a stalled event loop: while replies keep coming the store
 * is alive, and after a stall the loop gets one more turn to read what has arrived. One timer serves all open calls.
 */
export class ReplyWatch {
  private readonly open = new Set<OpenCall>();
  private timer: NodeJS.Timeout | undefined;
  private lastReplyAt = -Infinity;
  private lastTickAt = 0;
  private lastLateAt = -Infinity;
  private overdueTicks = 0;

  constructor(private readonly options: ReplyWatchOptions) {}

  /**
   * @param onLate gets the value of a call that was given up before it answered
   * @throws StoreUnavailable when the call was given up; otherwise whatever the call throws
   */
  guard<T>(call: Promise<T>, onLate?: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const entry: OpenCall = { since: this.options.clock.monotonic(), isAbandoned: false, abandon: reject };
      this.open.add(entry);
      this.startTicking(entry.since);
      call
        .then((value) => {
          this.noteReply(entry);
          if (entry.isAbandoned) onLate?.(value);
          else resolve(value);
        })
        .catch((cause: unknown) => {
          this.noteReply(entry);
          reject(cause instanceof Error ? cause : new StoreUnavailable(`${this.options.store} failed`, { cause }));
        });
    });
  }

  /** Gives up every open call. */
  abandonAll(): void {
    for (const entry of this.open) this.abandon(entry);
  }

  private noteReply(entry: OpenCall): void {
    this.open.delete(entry);
    this.lastReplyAt = this.options.clock.monotonic();
    this.overdueTicks = 0;
  }

  private abandon(entry: OpenCall): void {
    this.open.delete(entry);
    entry.isAbandoned = true;
    entry.abandon(new StoreUnavailable(`${this.options.store} did not answer in time`));
  }

  private startTicking(now: number): void {
    if (this.timer) return;
    this.lastTickAt = now;
    this.overdueTicks = 0;
    this.timer = setTimeout(() => this.tick(), TICK_MS);
    this.timer.unref();
  }

  private tick(): void {
    this.timer = undefined;
    const now = this.options.clock.monotonic();
    const isLate = now - this.lastTickAt > TICK_MS + LATE_MS;
    if (isLate) this.lastLateAt = now;
    this.lastTickAt = now;
    if (this.isSilent(now, isLate)) {
      this.abandonAll();
      this.options.onSilence();
    }
    for (const entry of this.open) {
      if (isLate || now - entry.since < this.options.deadlineMs) break;
      this.abandon(entry);
    }
    if (this.open.size === 0) return;
    this.timer = setTimeout(() => this.tick(), TICK_MS);
    this.timer.unref();
  }

  private isSilent(now: number, isLate: boolean): boolean {
    const [oldest] = this.open;
    if (!oldest) return false;
    const silentMs = now - Math.max(oldest.since, this.lastReplyAt);
    if (silentMs >= this.options.heldUpSilenceMs) return ++this.overdueTicks >= 2 || !isLate;
    return silentMs >= this.options.silenceMs && now - this.lastLateAt >= LATE_MEMORY_MS;
  }
}
