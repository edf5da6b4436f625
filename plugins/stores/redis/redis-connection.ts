import { Redis } from 'ioredis';
import { type Clock } from '../../core/ports';
import { ReplyWatch } from '../quota/quota-reply-watch';
import { reasonOf, ScriptCaller, type ScriptCall, type ScriptConnection } from './script-caller';

export interface RedisConnectionOptions {
  readonly url: string;
  readonly clock: Clock;
  /** See {@link ReplyWatch}. */
  readonly silenceMs: number;
  readonly heldUpSilenceMs: number;
  /** The connection cannot be used; the reason names no address and no value. May be called more than once. */
  readonly onTrouble: (reason: string) => void;
  /** A call that had been given up was answered after all: the server is alive. */
  readonly onLateReply: () => void;
  readonly onReady: () => void;
}

/** A call that other calls overtake for this long fails by itself. */
const DEADLINE_MS = 1_000;
const CONNECT_TIMEOUT_MS = 1_000;
const DISCONNECT_TIMEOUT_MS = 100;
const SLOWEST_RECONNECT_MS = 250;
/** A connection that says nothing for this long is replaced: its host may be gone. Until then late grants can still be given back. */
const REPLACE_AFTER_SILENCE_MS = 5_000;
/** A write, because a replica and a full server answer a PING. Short-lived, in one slot. */
const PROBE_KEY = 'tollgate:quota:probe';
const PROBE_TTL_MS = 10_000;

/**
 * One connection for scripts. Nothing is queued while it is down and nothing is ever sent twice: after a failure it is unknown whether
 * a script ran. All calls of one turn of the event loop go out in one write.
 */
export class RedisConnection implements ScriptConnection {
  private readonly redis: Redis;
  private readonly caller: ScriptCaller;
  private isCorked = false;
  private isProbing = false;

  constructor(options: RedisConnectionOptions) {
    const { clock, silenceMs, heldUpSilenceMs } = options;
    const watch = new ReplyWatch({
      store: 'Redis',
      silenceMs,
      heldUpSilenceMs,
      deadlineMs: DEADLINE_MS,
      clock,
      onSilence: () => options.onTrouble('silent'),
    });
    this.redis = new Redis(options.url, {
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResendUnfulfilledCommands: false,
      connectTimeout: CONNECT_TIMEOUT_MS,
      // ioredis keeps the process alive for this long after the end of a connection that was already broken.
      disconnectTimeout: DISCONNECT_TIMEOUT_MS,
      retryStrategy: (times) => Math.min(50 * times, SLOWEST_RECONNECT_MS),
      // A replica that was a primary: the name may lead to the new primary by now.
      reconnectOnError: (error) => error.message.startsWith('READONLY'),
      connectionName: 'tollgate-quota',
    });
    const { onTrouble, onLateReply } = options;
    this.caller = new ScriptCaller({ commands: this.redis, watch, onTrouble, onLateReply });
    this.redis.on('error', (error: Error) => options.onTrouble(reasonOf(error)));
    this.redis.on('close', () => options.onTrouble('connection closed'));
    this.redis.on('ready', () => options.onReady());
  }

  get isReady(): boolean {
    return this.redis.status === 'ready';
  }

  runScript(call: ScriptCall): Promise<unknown> {
    this.corkThisTurn();
    return this.caller.runScript(call);
  }

  readField(key: string, field: string): Promise<string | null> {
    return this.caller.readField(key, field);
  }

  async probe(): Promise<number | undefined> {
    if (this.isProbing || !this.isReady) return undefined;
    this.isProbing = true;
    // Rejects the probe, and makes ioredis connect anew.
    const replace = setTimeout(() => this.redis.disconnect(true), REPLACE_AFTER_SILENCE_MS);
    replace.unref();
    try {
      const [, time] = await Promise.all([this.redis.set(PROBE_KEY, '', 'PX', PROBE_TTL_MS), this.redis.time()]);
      return Number(time[0]);
    } catch {
      return undefined;
    } finally {
      clearTimeout(replace);
      this.isProbing = false;
    }
  }

  close(): void {
    this.redis.disconnect();
  }

  private corkThisTurn(): void {
    if (this.isCorked || !this.isReady) return;
    const { stream } = this.redis;
    this.isCorked = true;
    stream.cork();
    process.nextTick(() => {
      this.isCorked = false;
      stream.uncork();
    });
  }
}
