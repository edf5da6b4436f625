import { createHash } from 'node:crypto';
import { StoreUnavailable } from '../../core/ports';
import { type ReplyWatch } from '../quota/quota-reply-watch';

type Argument = string | number;

export interface ScriptCall {
  readonly source: string;
  readonly key: string;
  readonly args: Argument[];
  /** Gets the reply when it comes after the call was given up. */
  readonly onLate: (reply: unknown) => void;
}

/** What the quota counter needs of a Redis: one server, or one master of a cluster. */
export interface ScriptConnection {
  /**
   * Runs a script on one key.
   * @throws StoreUnavailable when no answer came; it is then unknown whether the script ran
   */
  runScript(call: ScriptCall): Promise<unknown>;
  /** @throws StoreUnavailable */
  readField(key: string, field: string): Promise<string | null>;
  /** The server's clock in Unix seconds when it takes writes, else undefined. At most one probe is under way. */
  probe(): Promise<number | undefined>;
}

/** The commands as ioredis has them, for a server and for a cluster alike. */
export interface ScriptCommands {
  evalsha(sha: string, keys: number, ...args: Argument[]): Promise<unknown>;
  eval(source: string, keys: number, ...args: Argument[]): Promise<unknown>;
  hget(key: string, field: string): Promise<string | null>;
}

export interface ScriptCallerOptions {
  readonly commands: ScriptCommands;
  readonly watch: ReplyWatch;
  /** An error reply: the server cannot be used. The reason names no address and no value. */
  readonly onTrouble: (reason: string) => void;
  readonly onLateReply: () => void;
}

/** Sends scripts by their digest, watched; turns every failure into {@link StoreUnavailable}. */
export class ScriptCaller {
  private readonly shas = new Map<string, string>();

  constructor(private readonly options: ScriptCallerOptions) {}

  async runScript({ source, key, args, ...call }: ScriptCall): Promise<unknown> {
    const { commands, watch, onLateReply } = this.options;
    const onLate = (reply: unknown): void => {
      call.onLate(reply);
      onLateReply();
    };
    try {
      return await watch.guard(commands.evalsha(this.shaOf(source), 1, key, ...args), onLate);
    } catch (cause) {
      // The one failure that says for certain that nothing ran.
      if (!isNoScript(cause)) throw this.unavailable(cause);
    }
    try {
      return await watch.guard(commands.eval(source, 1, key, ...args), onLate);
    } catch (cause) {
      throw this.unavailable(cause);
    }
  }

  async readField(key: string, field: string): Promise<string | null> {
    try {
      return await this.options.watch.guard(this.options.commands.hget(key, field));
    } catch (cause) {
      throw this.unavailable(cause);
    }
  }

  private shaOf(source: string): string {
    const known = this.shas.get(source);
    if (known !== undefined) return known;
    const sha = createHash('sha1').update(source).digest('hex');
    this.shas.set(source, sha);
    return sha;
  }

  private unavailable(cause: unknown): StoreUnavailable {
    if (cause instanceof StoreUnavailable) return cause;
    // An error reply: loading, read-only, out of memory. Asking again at once would not help.
    this.options.onTrouble(reasonOf(cause));
    return new StoreUnavailable('Redis failed', { cause });
  }
}

function isNoScript(cause: unknown): boolean {
  return cause instanceof Error && cause.message.startsWith('NOSCRIPT');
}

/** The error's code or first word: `ECONNREFUSED`, `READONLY`. The rest may hold an address or a value. */
export function reasonOf(cause: unknown): string {
  if (!(cause instanceof Error)) return 'unknown';
  if ('code' in cause && typeof cause.code === 'string') return cause.code;
  return cause.message.split(' ', 1)[0] ?? 'unknown';
}
