import { type Clock, StoreUnavailable } from '../../core/ports';

/** How long a store may be silent. Only time in which this process ran counts; see {@link ReplyWatch}. */
export interface Silence {
  /** Milliseconds without any reply, while calls are open, after which the store counts as gone. */
  readonly silenceMs: number;
  /**
   * The same limit when this process was itself delayed just before: replies may be waiting unread, and a store on the same machine may not
   * have run either. Giving up a store that other nodes still use costs exactness, so a busy machine must not look like a dead store.
   */
  readonly heldUpSilenceMs: number;
}

export interface ReplyWatchOptions extends Silence {
  /** Names the store in errors. */
  readonly store: string;
  /** Maximum milliseconds of a single call, even if other calls get replies. */
  readonly deadlineMs: number;
  readonly clock: Clock;
  /** Called once when silence is found, after every open call was rejected. */
  readonly onSilence: () => void;
}

interface OpenCall {
  readonly since: number;
  /** {@link ReplyWatch.heldUpMs} when the call began. */
  readonly heldUpBefore: number;
  isAbandoned: boolean;
  readonly abandon: (error: StoreUnavailable) => void;
}

const TICK_MS = 5;
/** A tick that is this late shows that the machine is busy. */
const LATE_MS = 2;
/**
 * A turn of the event loop counts as at most this much silence, however late it came. While this process did not run, it could not have
 * received a reply, and a store on the same machine may not have run either. So the store gets the same time to reply as after a punctual
 * turn.
 */
const MAX_COUNTED_MS = 20;
/** The time after a late tick in which {@link Silence.heldUpSilenceMs} applies: the store may be waiting for the CPU as well. */
const LATE_MEMORY_MS = 200;

/**
 * Bounds how long calls wait for a store, and distinguishes a silent store from a stalled event loop. While replies keep coming the store
 * is alive, and time in which the loop stood still hardly counts. Silence is measured in turns of the loop, not by the clock alone. One
 * timer serves all open calls.
 */
export class ReplyWatch {
  private readonly open = new Set<OpenCall>();
  private timer: NodeJS.Timeout | undefined;
  private lastReplyAt = -Infinity;
  private lastTickAt = 0;
  private lastLateAt = -Infinity;
  /** Total time that does not count because the loop stood still. */
  private heldUpMs = 0;
  private heldUpBeforeReply = 0;

  constructor(private readonly options: ReplyWatchOptions) {}

  /**
   * @param onLate takes the value of a call that was given up before it replied
   * @throws StoreUnavailable when the call was given up; otherwise whatever the call throws
   */
  guard<T>(call: Promise<T>, onLate?: (value: T) => void): Promise<T> {
    return new Promise((resolve, reject) => {
      const entry: OpenCall = { since: this.options.clock.monotonic(), heldUpBefore: this.heldUpMs, isAbandoned: false, abandon: reject };
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
    this.heldUpBeforeReply = this.heldUpMs;
  }

  private abandon(entry: OpenCall): void {
    this.open.delete(entry);
    entry.isAbandoned = true;
    entry.abandon(new StoreUnavailable(`${this.options.store} did not respond in time`));
  }

  private startTicking(now: number): void {
    if (this.timer) return;
    this.lastTickAt = now;
    this.timer = setTimeout(() => this.tick(), TICK_MS);
    this.timer.unref();
  }

  private tick(): void {
    this.timer = undefined;
    const now = this.options.clock.monotonic();
    const turnMs = now - this.lastTickAt;
    if (turnMs > TICK_MS + LATE_MS) this.lastLateAt = now;
    this.heldUpMs += Math.max(0, turnMs - MAX_COUNTED_MS);
    this.lastTickAt = now;
    if (this.isSilent(now)) {
      this.abandonAll();
      this.options.onSilence();
    }
    for (const entry of this.open) {
      if (this.countedSince(now, entry.since, entry.heldUpBefore) < this.options.deadlineMs) break;
      this.abandon(entry);
    }
    if (this.open.size === 0) return;
    this.timer = setTimeout(() => this.tick(), TICK_MS);
    this.timer.unref();
  }

  private countedSince(now: number, since: number, heldUpBefore: number): number {
    return now - since - (this.heldUpMs - heldUpBefore);
  }

  private isSilent(now: number): boolean {
    const [oldest] = this.open;
    if (!oldest) return false;
    const silentMs = Math.min(
      this.countedSince(now, oldest.since, oldest.heldUpBefore),
      this.countedSince(now, this.lastReplyAt, this.heldUpBeforeReply),
    );
    if (silentMs >= this.options.heldUpSilenceMs) return true;
    return silentMs >= this.options.silenceMs && now - this.lastLateAt >= LATE_MEMORY_MS;
  }
}
