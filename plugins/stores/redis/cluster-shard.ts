import { type Clock } from '../../core/ports';
import { ReplyWatch } from '../quota/quota-reply-watch';
import { type ClusterConnection } from './cluster-connection';
import { slotOfTag } from './key-slot';
import { ScriptCaller, type ScriptCall, type ScriptConnection } from './script-caller';

export interface ClusterShardOptions {
  readonly connection: ClusterConnection;
  /** `host:port` of the master. */
  readonly node: string;
  readonly clock: Clock;
  /** See {@link ReplyWatch}. */
  readonly silenceMs: number;
  readonly heldUpSilenceMs: number;
  readonly onTrouble: (reason: string) => void;
  readonly onLateReply: () => void;
}

const DEADLINE_MS = 1_000;
const REPLACE_AFTER_SILENCE_MS = 5_000;
const PROBE_TTL_MS = 10_000;
/** A write, because a full server answers a read; with the time of the server that took it. */
const PROBE = "redis.call('SET', KEYS[1], '', 'PX', ARGV[1]) return redis.call('TIME')[1]";
/** Tags tried before a master is taken to have no slot; one that has any has far more than one in this many. */
const MOST_TAGS = 65_536;

/** One master of a cluster, with a watch of its own: another that still answers says nothing about this one. */
export class ClusterShard implements ScriptConnection {
  private readonly caller: ScriptCaller;
  private probeTag: string | undefined;
  private isProbing = false;

  constructor(private readonly options: ClusterShardOptions) {
    const { connection, clock, silenceMs, heldUpSilenceMs, onTrouble, onLateReply } = options;
    const onSilence = (): void => onTrouble('silent');
    const watch = new ReplyWatch({ store: 'Redis', silenceMs, heldUpSilenceMs, deadlineMs: DEADLINE_MS, clock, onSilence });
    this.caller = new ScriptCaller({ commands: connection.cluster, watch, onTrouble, onLateReply });
  }

  runScript(call: ScriptCall): Promise<unknown> {
    return this.caller.runScript(call);
  }

  readField(key: string, field: string): Promise<string | null> {
    return this.caller.readField(key, field);
  }

  async probe(): Promise<number | undefined> {
    const { connection, node } = this.options;
    const tag = this.findTag();
    if (this.isProbing || tag === undefined || !connection.isReady(node)) return undefined;
    this.isProbing = true;
    // Rejects the probe, and makes ioredis connect anew.
    const replace = setTimeout(() => connection.reconnect(node), REPLACE_AFTER_SILENCE_MS);
    replace.unref();
    try {
      return Number(await connection.cluster.eval(PROBE, 1, `tollgate:quota:probe:{${tag}}`, PROBE_TTL_MS));
    } catch {
      return undefined;
    } finally {
      clearTimeout(replace);
      this.isProbing = false;
    }
  }

  /** Any hash tag whose slot this master has. */
  private findTag(): string | undefined {
    const { connection, node } = this.options;
    const isOurs = (tag: string): boolean => connection.ownerOf(slotOfTag(tag)) === node;
    if (this.probeTag !== undefined && isOurs(this.probeTag)) return this.probeTag;
    this.probeTag = undefined;
    for (let index = 0; index < MOST_TAGS && this.probeTag === undefined; index++) if (isOurs(String(index))) this.probeTag = String(index);
    return this.probeTag;
  }
}
