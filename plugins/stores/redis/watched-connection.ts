import { type Clock, StoreUnavailable } from '../../core/ports';
import { ReplyWatch, type Silence } from '../quota/quota-reply-watch';
import { reasonOf, type RedisMasters } from './redis-masters';

export interface WatchedConnectionOptions extends Silence {
  readonly masters: RedisMasters;
  /** The watched master, one of `masters.names()`. */
  readonly name: string;
  readonly clock: Clock;
  /** The master cannot be used. The reason names no address and no value. May be called more than once. */
  readonly onTrouble: (reason: string) => void;
  /** A call that was given up got its reply after all: the server is alive. */
  readonly onLateReply: () => void;
}

export interface ScriptCall {
  readonly key: string;
  readonly args: (string | number)[];
  /** Gets a reply that arrives after the call was given up. */
  readonly onLate: (reply: unknown) => void;
}

/** A call without a reply for this long fails by itself, even while other calls get replies. */
const DEADLINE_MS = 1_000;
/** A connection that is silent for this long is replaced, because its host may be gone. Until then late grants can still be given back. */
const REPLACE_AFTER_SILENCE_MS = 5_000;
const PROBE_TTL_MS = 10_000;
/** Writes, because a replica or a full server still answers reads. Returns the server's time. */
const PROBE = "redis.call('SET', KEYS[1], '', 'PX', ARGV[1]) return redis.call('TIME')[1]";
/** Maximum tags to try before a master counts as having no slots. A master with slots has far more than one of this many tags. */
const MAX_TAGS = 65_536;

/**
 * The connection to one master, with its own watch: replies of another master show nothing about this one. Every failed call throws {@link
 * StoreUnavailable}, and all calls of one turn of the event loop are sent in one write.
 */
export class WatchedConnection {
  private readonly watch: ReplyWatch;
  private probeTag: string | undefined;
  private isProbing = false;
  private isCorked = false;

  constructor(private readonly options: WatchedConnectionOptions) {
    const { silenceMs, heldUpSilenceMs, clock, onTrouble } = options;
    const onSilence = (): void => onTrouble('silent');
    this.watch = new ReplyWatch({ store: 'Redis', silenceMs, heldUpSilenceMs, deadlineMs: DEADLINE_MS, clock, onSilence });
  }

  get isReady(): boolean {
    const { masters, name } = this.options;
    return masters.clientOf(name)?.status === 'ready';
  }

  /**
   * Runs quota-counter.lua on one key.
   * @throws StoreUnavailable when no reply came; the script may or may not have run
   */
  runScript({ key, args, onLate }: ScriptCall): Promise<unknown> {
    const { masters, onLateReply } = this.options;
    this.corkThisTurn();
    return this.watched(masters.commands.countQuota(key, ...args), (reply) => {
      onLate(reply);
      onLateReply();
    });
  }

  /** @throws StoreUnavailable */
  readField(key: string, field: string): Promise<string | null> {
    return this.watched(this.options.masters.commands.hget(key, field));
  }

  /** The server's clock in Unix seconds if the server takes writes, else undefined. At most one probe is under way. */
  async probe(): Promise<number | undefined> {
    const { masters, name } = this.options;
    const tag = this.isProbing || !this.isReady ? undefined : this.findTag();
    if (tag === undefined) return undefined;
    this.isProbing = true;
    // Rejects the probe and makes ioredis reconnect.
    const replace = setTimeout(() => masters.clientOf(name)?.disconnect(true), REPLACE_AFTER_SILENCE_MS);
    replace.unref();
    try {
      return Number(await masters.commands.eval(PROBE, 1, `tollgate:quota:probe:{${tag}}`, PROBE_TTL_MS));
    } catch {
      return undefined;
    } finally {
      clearTimeout(replace);
      this.isProbing = false;
    }
  }

  private async watched<T>(call: Promise<T>, onLate?: (value: T) => void): Promise<T> {
    try {
      return await this.watch.guard(call, onLate);
    } catch (cause) {
      if (cause instanceof StoreUnavailable) throw cause;
      // An error reply: loading, read-only, out of memory. An immediate retry would not help.
      this.options.onTrouble(reasonOf(cause));
      throw new StoreUnavailable('Redis failed', { cause });
    }
  }

  private corkThisTurn(): void {
    const client = this.isCorked ? undefined : this.options.masters.clientOf(this.options.name);
    if (client?.status !== 'ready') return;
    const { stream } = client;
    this.isCorked = true;
    stream.cork();
    process.nextTick(() => {
      this.isCorked = false;
      stream.uncork();
    });
  }

  /** Any hash tag that this master has. */
  private findTag(): string | undefined {
    const { masters, name } = this.options;
    const isOurs = (tag: string): boolean => masters.ownerOf(tag) === name;
    if (this.probeTag !== undefined && isOurs(this.probeTag)) return this.probeTag;
    this.probeTag = undefined;
    for (let index = 0; index < MAX_TAGS && this.probeTag === undefined; index++) if (isOurs(String(index))) this.probeTag = String(index);
    return this.probeTag;
  }
}
