import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join, resolve } from 'node:path';

const PROGRAM = join(resolve(__dirname, '../..'), 'dist', 'bench', 'neighbours', 'bystander-program.js');

/** What a paying customer does all the time. */
export interface BystanderCall {
  /** For example `/ip`. */
  readonly name: string;
  readonly url: string;
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  /** Base64. */
  readonly body?: string;
  readonly everyMs: number;
  /** The product has few requests at once. */
  readonly isHeavy: boolean;
}

export interface BystanderAnswer {
  readonly name: string;
  /** Milliseconds since 1970, not rounded. */
  readonly sentAt: number;
  readonly tookMs: number;
  /** 0: the connection broke. */
  readonly status: number;
  /** Requests left today, as the answer says; every charged one has a number of its own. */
  readonly left: number | null;
  /** The start of the answer. */
  readonly text: string;
}

export type BystanderCommand = { readonly kind: 'watch'; readonly calls: readonly BystanderCall[] } | { readonly kind: 'stop' };

/** Somebody else's calls, sent and timed by a process of its own. */
export interface Bystander {
  watch(calls: readonly BystanderCall[]): void;
  /** Waits for what is on its way. */
  stop(): Promise<readonly BystanderAnswer[]>;
  close(): void;
}

/** The installation must have been built. */
export function startBystander(): Bystander {
  const child = fork(PROGRAM, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  return {
    watch: (calls) => void child.send({ kind: 'watch', calls } satisfies BystanderCommand),
    async stop() {
      const answered = once(child, 'message') as Promise<[BystanderAnswer[]]>;
      child.send({ kind: 'stop' } satisfies BystanderCommand);
      return (await answered)[0];
    },
    close: () => child.disconnect(),
  };
}
